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
  const done = new AbortController();
  const lockEnds = new AbortController();
  const leftInMs = startedAtInMs + budgetInMs - SETTLE_MARGIN_IN_MS - clock.monotonicInMs();
  void clock.sleep(Math.max(0, leftInMs), done.signal).then(() => lockEnds.abort());
  const over = AbortSignal.any([lockEnds.signal, stopping]);

  let failed: Persisted<Value> = { kind: 'failed', code: 'unavailable', message: 'down, as other deliveries found' };
  try {
    let turn: Turn | undefined = waitsFirst ? await outage.turn(over) : { isProbe: false };
    while (turn) {
      try {
        const value = await call();
        outage.succeeded();
        return { kind: 'done', value };
      } catch (error) {
        const { code, message, retryAfterInMs } = error as {
          code?: unknown;
          message?: unknown;
          retryAfterInMs?: number;
        };
        failed = { kind: 'failed', code: String(code), message: String(message) };
        if (code === 'tooLarge' || code === 'refused') return failed;
        outage.failed(turn, retryAfterInMs);
        telemetry.log('warning', failed.message);
      }
      turn = await outage.turn(over);
    }
    return failed;
  } finally {
    done.abort();
  }
}
