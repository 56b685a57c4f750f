import { fraction } from './hash.ts';
import type { RetryPolicy } from './policy.ts';

/** The fields of a policy that say how long to wait. */
export type Backoff = Pick<RetryPolicy, 'baseDelayInMs' | 'multiplier' | 'capInMs' | 'curve' | 'delaysInMs' | 'jitter'>;

const FLOOR_IN_MS = 1_000;
/** A year: longer than any window, short enough for every date to stay finite. */
const CEILING_IN_MS = 365 * 24 * 3_600_000;
/** The most attempts a policy can have. */
const MOST_ATTEMPTS = 1_000;

const bounded = (delayInMs: number): number =>
  Number.isNaN(delayInMs) ? FLOOR_IN_MS : Math.min(Math.max(delayInMs, FLOOR_IN_MS), CEILING_IN_MS);

/**
 * The delay after failed attempt `attempt` (counted from 1), in ms: min(cap, base * multiplier^(attempt - 1)), with the
 * cap applied to the curve, so that jitter still spreads what has reached it, and again after jitter; never under a
 * second. Its chance is a hash of the event and the attempt: a run repeated after a crash picks the same delay, and
 * the copies of different events spread. Any input gives a finite, whole result.
 */
export function backoffInMs(policy: Backoff, attempt: number, eventId: string): number {
  const nth = Math.min(Math.max(Math.floor(attempt) || 1, 1), MOST_ATTEMPTS);
  const cap = bounded(policy.capInMs);
  return Math.round(bounded(Math.min(withJitter(policy, nth, cap, eventId), cap)));
}

function plain(policy: Backoff, nth: number): number {
  switch (policy.curve) {
    case 'exponential':
      return bounded(policy.baseDelayInMs * policy.multiplier ** (nth - 1));
    case 'linear':
      return bounded(policy.baseDelayInMs * nth);
    case 'list':
      return bounded(policy.delaysInMs[nth - 1] ?? policy.delaysInMs.at(-1) ?? policy.baseDelayInMs);
  }
}

function withJitter(policy: Backoff, nth: number, cap: number, eventId: string): number {
  const delay = Math.min(plain(policy, nth), cap);
  const chance = fraction('backoff', eventId, nth);
  switch (policy.jitter) {
    case 'none':
      return delay;
    case 'full':
      return delay * chance;
    case 'equal':
      return delay / 2 + (delay / 2) * chance;
    case 'decorrelated':
      return decorrelated(Math.min(plain(policy, 1), cap), nth, cap, eventId);
  }
}

/** Each delay is drawn between the base and three times the one before, which is drawn the same way. */
function decorrelated(base: number, nth: number, cap: number, eventId: string): number {
  let delay = base;
  for (let n = 1; n <= nth; n++) {
    delay = Math.min(base + (delay * 3 - base) * fraction('backoff', eventId, n), cap);
  }
  return delay;
}

/**
 * Spreads a floor that many events share (`Retry-After`) upward, by up to a tenth of it and a second, at most a minute.
 * Whole ms; any input gives a finite result.
 */
export function spreadInMs(floorInMs: number, attempt: number, eventId: string): number {
  const widthInMs = Math.min(Math.max(floorInMs || 0, 0) / 10 + 1_000, 60_000);
  return Math.round(widthInMs * fraction('spread', eventId, attempt));
}
