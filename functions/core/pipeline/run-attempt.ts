import type { Delivery } from '../rules/delivery.ts';
import { classify, type Failure } from '../rules/failure.ts';
import { idempotencyKey } from '../rules/hash.ts';
import type { RetryPolicy } from '../rules/policy.ts';
import type { EventConsumer, Invocation, Ports } from './event-consumer.ts';

/** How one attempt ended, after how many tries. */
export type AttemptEnd =
  /** `result`: what the handler returned. */
  | { readonly kind: 'succeeded'; readonly result: unknown; readonly tries: number }
  | { readonly kind: 'failed'; readonly failure: Failure; readonly tries: number }
  /** The process was told to stop, and the handler gave up. */
  | { readonly kind: 'stopped'; readonly tries: number }
  /** The handler ignored its signal and still runs: nobody knows what it did, or will do. */
  | { readonly kind: 'unknown'; readonly tries: number };

/** One attempt: what it works on, and how long it may take. */
export interface Attempt<Event> {
  readonly event: Event;
  readonly delivery: Delivery;
  readonly eventId: string;
  readonly edit?: string | undefined;
  readonly generation: number;
  readonly attempt: number;
  /** The handler's signal fires after this long. */
  readonly timeoutInMs: number;
  /** How long after its signal a handler is waited for. */
  readonly graceInMs: number;
}

/**
 * Runs the handler, again after a pause where the failure may pass and the policy has a try left. Ends only when the
 * handler's promise has ended, or with `unknown`.
 */
export async function runAttempt<Event>(
  consumer: EventConsumer<Event>,
  ports: Pick<Ports, 'clock'>,
  invocation: Invocation,
  attempt: Attempt<Event>,
): Promise<AttemptEnd> {
  const { clock } = ports;
  const { policy } = consumer;
  const endsAtInMs = clock.monotonicInMs() + attempt.timeoutInMs;
  const deadlineUtc = clock.nowUtc() + attempt.timeoutInMs;
  const over = new AbortController();
  const timeIsUp = new AbortController();
  void clock.sleep(attempt.timeoutInMs, over.signal).then(() => {
    if (!over.signal.aborted) timeIsUp.abort(new DOMException('the time for this attempt is up', 'TimeoutError'));
  });
  const signal = AbortSignal.any([timeIsUp.signal, invocation.stopping]);

  try {
    for (let tries = 1; ; tries++) {
      const context = {
        eventId: attempt.eventId,
        attempt: attempt.attempt,
        maxAttempts: policy.attempts,
        try: tries,
        isLastAttempt: attempt.attempt >= policy.attempts,
        generation: attempt.generation,
        idempotencyKey: idempotencyKey(consumer.name, attempt.eventId, attempt.edit),
        signal,
        deadlineUtc,
        log: invocation.log,
        delivery: attempt.delivery,
      };
      const ended = await endOf(() => consumer.handle(attempt.event, context), ports, signal, attempt.graceInMs);
      if (ended.kind === 'returned') return { kind: 'succeeded', result: ended.result, tries };
      if (ended.kind === 'running') return { kind: 'unknown', tries };

      if (invocation.stopping.aborted) return { kind: 'stopped', tries };
      if (timeIsUp.signal.aborted) return { kind: 'failed', failure: outOfTime(attempt.timeoutInMs), tries };
      const failure = classify(ended.error, policy.rules);
      const pauseInMs = pauseBeforeNextTry(failure, policy, tries, endsAtInMs - clock.monotonicInMs());
      if (pauseInMs === undefined) return { kind: 'failed', failure, tries };
      await clock.sleep(pauseInMs, signal);
      if (invocation.stopping.aborted) return { kind: 'stopped', tries };
      // A process that stood still meanwhile wakes to the end of the pause first, and may have lost its lease.
      if (clock.monotonicInMs() >= endsAtInMs) {
        return { kind: 'failed', failure: outOfTime(attempt.timeoutInMs), tries };
      }
    }
  } finally {
    over.abort();
  }
}

type HandlerEnd = { kind: 'returned'; result: unknown } | { kind: 'threw'; error: unknown } | { kind: 'running' };

/** Waits for the handler; once its signal has fired, for the grace time at most. */
async function endOf(
  handle: () => Promise<unknown>,
  { clock }: Pick<Ports, 'clock'>,
  signal: AbortSignal,
  graceInMs: number,
): Promise<HandlerEnd> {
  const done = new AbortController();
  let giveUp = (): void => undefined;
  const givenUp = new Promise<HandlerEnd>((resolve) => {
    giveUp = () => void clock.sleep(graceInMs, done.signal).then(() => resolve({ kind: 'running' }));
  });
  if (signal.aborted) giveUp();
  else signal.addEventListener('abort', giveUp);
  const handler = (async (): Promise<HandlerEnd> => {
    try {
      return { kind: 'returned', result: await handle() };
    } catch (error) {
      return { kind: 'threw', error };
    }
  })();
  try {
    // An end in the very moment in which it is given up counts as an end.
    return await Promise.race([handler, givenUp.then((end) => Promise.race([handler, end]))]);
  } finally {
    signal.removeEventListener('abort', giveUp);
    done.abort();
  }
}

const outOfTime = (timeoutInMs: number): Failure => ({
  kind: 'transient',
  code: 'HandlerTimeout',
  message: `the handler took longer than ${timeoutInMs} ms`,
  retryAfter: undefined,
});

/** The pause in ms, or undefined where the rest is left to a redelivery: no try or no time left, or a longer wait asked for. */
function pauseBeforeNextTry(
  failure: Failure,
  policy: RetryPolicy,
  tries: number,
  leftInMs: number,
): number | undefined {
  const mayPass =
    failure.kind === 'transient' || (failure.kind === 'unclassified' && policy.unclassified === 'transient');
  if (!mayPass || tries >= policy.tries) return undefined;
  if (failure.kind === 'transient' && failure.retryAfter) return undefined;
  const pauseInMs = policy.tryDelaysInMs[tries - 1] ?? policy.tryDelaysInMs.at(-1) ?? 0;
  return pauseInMs < leftInMs ? pauseInMs : undefined;
}
