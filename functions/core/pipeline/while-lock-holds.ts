import { SETTLE_MARGIN_IN_MS } from '../rules/policy.ts';
import type { Invocation, Ports } from './event-consumer.ts';

/** What came of a call to the store or the broker. */
export type Persisted<Value> =
  | { readonly kind: 'done'; readonly value: Value }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string };

const FIRST_PAUSE_IN_MS = 250;
const LONGEST_PAUSE_IN_MS = 5_000;

/**
 * Calls the store or the broker, again after a pause that doubles while the fault may pass and the lock can be held,
 * less the time to settle. A fault that will not pass (`tooLarge`) ends it at once; so does the signal to stop.
 */
export async function whileLockHolds<Value>(
  { clock, telemetry }: Pick<Ports, 'clock' | 'telemetry'>,
  { startedAtInMs, budgetInMs, stopping }: Invocation,
  call: () => Promise<Value>,
): Promise<Persisted<Value>> {
  const endsAtInMs = startedAtInMs + budgetInMs - SETTLE_MARGIN_IN_MS;
  for (let pauseInMs = FIRST_PAUSE_IN_MS; ; pauseInMs = Math.min(pauseInMs * 2, LONGEST_PAUSE_IN_MS)) {
    try {
      return { kind: 'done', value: await call() };
    } catch (error) {
      const { code, message, retryAfterInMs } = error as { code?: unknown; message?: unknown; retryAfterInMs?: number };
      const failed = { kind: 'failed', code: String(code), message: String(message) } as const;
      const waitInMs = Math.max(pauseInMs, retryAfterInMs ?? 0);
      const isOver = stopping.aborted || clock.monotonicInMs() + waitInMs >= endsAtInMs;
      if (code === 'tooLarge' || isOver) return failed;
      telemetry.log('warning', `${failed.message}; again in ${waitInMs} ms`);
      await clock.sleep(waitInMs, stopping);
    }
  }
}
