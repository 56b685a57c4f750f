import type { Delivery } from './delivery.ts';

/** What a handler knows besides the event. */
export interface HandlerContext {
  /** Names the event for ever, across copies and replays. */
  readonly eventId: string;
  /** Counts from 1, across copies. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Counts from 1, inside the attempt. */
  readonly try: number;
  readonly isLastAttempt: boolean;
  /** How often the event has been brought back from the dead. */
  readonly generation: number;
  /** For the provider's idempotency: the same for every try, attempt and replay of the event; an edited replay has its own. */
  readonly idempotencyKey: string;
  /** Fires when the attempt's time is up or the consumer is told to stop; pass it on to whatever takes time. */
  readonly signal: AbortSignal;
  /** When `signal` fires at the latest, epoch milliseconds on our own clock. */
  readonly deadlineUtc: number;
  /** A line in the invocation's log. */
  readonly log: (message: string) => void;
  /** The message itself: raw bytes and properties. */
  readonly delivery: Delivery;
}

/**
 * The business of one event. It returns when the effect has happened and throws when it has not: `PermanentError` for
 * never again, `TransientError` or `HttpStatusError` for later, anything else as classified. What it returns, if
 * anything, is kept as JSON of at most 8 KB and handed to `onDuplicate`.
 */
export type Handler<Event> = (event: Event, context: HandlerContext) => Promise<unknown>;
