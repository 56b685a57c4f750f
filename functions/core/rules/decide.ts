import { backoffInMs, spreadInMs } from './backoff.ts';
import type { LastFailure } from './dead-letter.ts';
import type { Failure } from './failure.ts';
import type { RetryPolicy } from './policy.ts';
import { iso } from './text.ts';

/** Where an event stands in its life when an attempt has ended. Instants are epoch milliseconds. */
export interface Standing {
  readonly eventId: string;
  readonly attempt: number;
  /** End of the retry window of this generation. */
  readonly deadlineUtc: number;
  /** When the message expires at the broker, if it does. */
  readonly expiresUtc: number | undefined;
}

/** What happens to a message whose attempt has failed. */
export type Decision =
  | { readonly kind: 'redeliver'; readonly dueUtc: number; readonly delayInMs: number; readonly failure: LastFailure }
  | { readonly kind: 'deadLetter'; readonly failure: LastFailure };

/**
 * The one place where a failed attempt becomes a redelivery or a dead letter. The retry window is asked here only,
 * when a failed attempt wants another.
 *
 * @param nowUtc our own clock; it may differ from the broker's by minutes, and a delay counts from it
 */
export function decide(standing: Standing, failure: Failure, policy: RetryPolicy, nowUtc: number): Decision {
  const { code, message } = failure;
  const deadLetter = (reason: string, why = message): Decision => ({
    kind: 'deadLetter',
    failure: { reason, code, message: why },
  });

  if (failure.kind === 'permanent') return deadLetter(failure.reason);
  if (failure.kind === 'unclassified' && policy.unclassified === 'permanent') return deadLetter('UnclassifiedFailure');
  if (standing.attempt >= policy.attempts) return deadLetter('AttemptsExhausted');

  const delayInMs = delayOf(standing, failure, policy, nowUtc);
  const dueUtc = nowUtc + delayInMs;
  if (standing.expiresUtc !== undefined && dueUtc >= standing.expiresUtc) {
    return deadLetter(
      'TimeToLiveExceeded',
      `${message} (next attempt ${iso(dueUtc)}, expires ${iso(standing.expiresUtc)})`,
    );
  }
  if (dueUtc > standing.deadlineUtc) {
    return deadLetter(
      'RetryWindowExceeded',
      `${message} (next attempt ${iso(dueUtc)}, window ends ${iso(standing.deadlineUtc)})`,
    );
  }
  return { kind: 'redeliver', dueUtc, delayInMs, failure: { reason: code, code, message } };
}

/** The policy's delay, or what the other side asked for where that is longer: that beats the cap, and is spread. */
function delayOf(standing: Standing, failure: Failure, policy: RetryPolicy, nowUtc: number): number {
  const { attempt, eventId } = standing;
  const delayInMs = backoffInMs(policy, attempt, eventId);
  if (failure.kind !== 'transient' || !failure.retryAfter) return delayInMs;
  const askedInMs = 'inMs' in failure.retryAfter ? failure.retryAfter.inMs : failure.retryAfter.utc - nowUtc;
  if (askedInMs <= delayInMs) return delayInMs;
  return askedInMs + (policy.jitter === 'none' ? 0 : spreadInMs(askedInMs, attempt, eventId));
}
