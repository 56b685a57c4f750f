import type { Inflate } from '../rules/body.ts';
import type { Delivery } from '../rules/delivery.ts';
import type { Handler } from '../rules/handler.ts';
import type { RetryPolicy } from '../rules/policy.ts';
import type { Clock, Ledger, Sender, Settlement, Telemetry } from './ports.ts';
import type { ProcessWide } from './process-wide.ts';

/** What a schema says of a value. */
export type Validation<Event> =
  | { readonly kind: 'valid'; readonly event: Event }
  /** A sentence for each path that failed. */
  | { readonly kind: 'invalid'; readonly problems: readonly string[] };

/** One event's consumer, composed and ready to process deliveries. */
export interface EventConsumer<Event> {
  /** Entity and consumer, as in `retry-consumer` and the ledger's keys. */
  readonly name: string;
  readonly policyName: string;
  readonly policy: RetryPolicy;
  readonly handle: Handler<Event>;
  /** The event in a value, or what is wrong with it. Never throws. */
  validate(value: unknown): Validation<Event>;
  /** What makes up the event's content, hashed, where a reused id must be told from a duplicate. */
  fingerprint?(event: Event): string;
  /** Called for a duplicate of an event whose handler returned something, with that; it has a handler's time. */
  onDuplicate?(
    result: unknown,
    context: { readonly eventId: string; readonly signal: AbortSignal; readonly log: (message: string) => void },
  ): Promise<void>;
  /** The event's own id, where it has a better one than MessageId. */
  eventId?(event: Event, delivery: Delivery): string;
}

/** What the pipeline needs of the world. */
export interface Ports {
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly sender: Sender;
  readonly settlement: Settlement;
  readonly telemetry: Telemetry;
  /** Without it compressed bodies are malformed. */
  readonly inflate?: Inflate;
  readonly processWide: ProcessWide;
}

/** The host's call for one delivery. */
export interface Invocation {
  /** `monotonicInMs` of the port's clock when the host called. */
  readonly startedAtInMs: number;
  /** From then on the lock is held and the function may run, in ms. */
  readonly budgetInMs: number;
  /** Fires when the process is told to stop. */
  readonly stopping: AbortSignal;
  /** W3C trace context of the invocation, where there is one. */
  readonly traceparent: string | undefined;
  /** A line in the invocation's log. */
  readonly log: (message: string) => void;
}
