import { backoffInMs, spreadInMs } from './backoff.ts';
import type { LastFailure } from './dead-letter.ts';
import type { Failure } from './failure.ts';
import type { RetryPolicy } from './policy.ts';
import { redact } from './redact.ts';
import { iso } from './text.ts';

/** Where an event stands in its life when an attempt has ended. Instants are epoch milliseconds on the broker's clock. */
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
 * @param nowUtc on the broker's clock, as far as it is known: see `clockSkewInMs`
 */
export function decide(standing: Standing, failure: Failure, policy: RetryPolicy, nowUtc: number): Decision {
  const { code } = failure;
  const message = redact(failure.message, policy.secrets);
  const deadLetter = (reason: string, why = message): Decision => ({
    kind: 'deadLetter',
    failure: { reason, code, message: why },
  });

  if (failure.kind === 'permanent') return deadLetter(failure.reason);
  if (failure.kind === 'unclassified' && policy.unclassified === 'permanent') return deadLetter('UnclassifiedFailure');
  if (!(standing.attempt < policy.attempts)) return deadLetter('AttemptsExhausted');

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

/**
 * The policy's delay, or what the other side asked for where that is longer: that beats the cap, and is spread upward,
 * but not past the last instant at which another attempt is still allowed.
 */
function delayOf(standing: Standing, failure: Failure, policy: RetryPolicy, nowUtc: number): number {
  const { attempt, eventId, deadlineUtc, expiresUtc } = standing;
  const delayInMs = backoffInMs(policy, attempt, eventId);
  if (failure.kind !== 'transient' || !failure.retryAfter) return delayInMs;
  const { retryAfter } = failure;
  const askedInMs = Math.ceil('inMs' in retryAfter ? retryAfter.inMs : retryAfter.utc - nowUtc);
  if (!(askedInMs > delayInMs)) return delayInMs;
  if (policy.jitter === 'none') return askedInMs;
  const roomInMs = Math.min(deadlineUtc, (expiresUtc ?? Number.POSITIVE_INFINITY) - 1) - nowUtc;
  return Math.max(askedInMs, Math.min(askedInMs + spreadInMs(askedInMs, attempt, eventId), roomInMs));
}
