import { SETTLE_MARGIN_IN_MS } from '../rules/policy.ts';
import type { Invocation, Ports } from './event-consumer.ts';
import type { Outage, Turn } from './outage.ts';

/** What came of a call to the store or the broker. */
export type Persisted<Value> =
  | { readonly kind: 'done'; readonly value: Value }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string };

/**
 * Calls the store or the broker, again at each turn that the outage gives, while the lock can be held, less the time to
 * settle. What will never be accepted is not tried again; the signal to stop ends it as well.
 *
 * @param waitsFirst whether the first call, too, waits for its turn: what a new delivery does, and an outage so brakes
 */
export async function whileLockHolds<Value>(
  { clock, telemetry }: Pick<Ports, 'clock' | 'telemetry'>,
  { startedAtInMs, budgetInMs, stopping }: Invocation,
  outage: Outage,
  call: () => Promise<Value>,
  waitsFirst = false,
): Promise<Persisted<Value>> {
  let last: Persisted<Value> = { kind: 'failed', code: 'unavailable', message: 'down, as other deliveries found' };
  /** @returns whether another try would change nothing */
  const isEnded = async (turn: Turn): Promise<boolean> => {
    try {
      last = { kind: 'done', value: await call() };
      outage.succeeded();
      return true;
    } catch (error) {
      const { code, message, retryAfterInMs } = error as { code?: unknown; message?: unknown; retryAfterInMs?: number };
      last = { kind: 'failed', code: String(code), message: String(message) };
      if (code === 'tooLarge' || code === 'refused') return true;
      outage.failed(turn, retryAfterInMs);
      telemetry.log('warning', last.message);
      return false;
    }
  };

  // Nearly every call succeeds at once: signals and a timer are for those that do not.
  const comesFirst = !waitsFirst || (outage.isOver && !stopping.aborted);
  if (comesFirst && (await isEnded({ isProbe: false }))) return last;

  const done = new AbortController();
  const lockEnds = new AbortController();
  const leftInMs = startedAtInMs + budgetInMs - SETTLE_MARGIN_IN_MS - clock.monotonicInMs();
  void clock.sleep(Math.max(0, leftInMs), done.signal).then(() => lockEnds.abort());
  const over = AbortSignal.any([lockEnds.signal, stopping]);
  try {
    for (;;) {
      const turn = await outage.turn(over);
      if (!turn || (await isEnded(turn))) return last;
    }
  } finally {
    done.abort();
  }
}
