import { fraction } from './hash.ts';
import type { RetryPolicy } from './policy.ts';

/** The fields of a policy that say how long to wait. */
export type Backoff = Pick<RetryPolicy, 'baseDelayInMs' | 'multiplier' | 'capInMs' | 'curve' | 'delaysInMs' | 'jitter'>;

const FLOOR_IN_MS = 1_000;
/** A year: longer than any window, short enough for every date to stay finite. */
const CEILING_IN_MS = 365 * 24 * 3_600_000;

const bounded = (delayInMs: number): number =>
  Number.isNaN(delayInMs) ? FLOOR_IN_MS : Math.min(Math.max(delayInMs, FLOOR_IN_MS), CEILING_IN_MS);

/**
 * The delay after failed attempt `attempt` (counted from 1), in ms: min(cap, base * multiplier^(attempt - 1)), the cap
 * applied after jitter, never under a second. Its chance is a hash of the event and the attempt: a run repeated after a
 * crash picks the same delay, and the copies of different events spread. Any input gives a finite result.
 */
export function backoffInMs(policy: Backoff, attempt: number, eventId: string): number {
  const jittered = withJitter(policy, Math.max(1, attempt), eventId);
  return Math.round(bounded(Math.min(jittered, Math.max(policy.capInMs, FLOOR_IN_MS))));
}

function plain(policy: Backoff, attempt: number): number {
  switch (policy.curve) {
    case 'exponential':
      return bounded(policy.baseDelayInMs * policy.multiplier ** (attempt - 1));
    case 'linear':
      return bounded(policy.baseDelayInMs * attempt);
    case 'list':
      return bounded(policy.delaysInMs[attempt - 1] ?? policy.delaysInMs.at(-1) ?? policy.baseDelayInMs);
  }
}

function withJitter(policy: Backoff, attempt: number, eventId: string): number {
  const delay = Math.min(plain(policy, attempt), policy.capInMs);
  const chance = fraction('backoff', eventId, attempt);
  switch (policy.jitter) {
    case 'none':
      return delay;
    case 'full':
      return delay * chance;
    case 'equal':
      return delay / 2 + (delay / 2) * chance;
    case 'decorrelated': {
      // Between the base and three times the delay before, which is itself such a draw: at most 3^n, so the fold ends
      // at the cap within a few steps and need not go back further.
      const base = plain(policy, 1);
      let previous = base;
      for (let n = Math.max(1, attempt - 40); n <= attempt; n++) {
        const draw = base + (previous * 3 - base) * fraction('backoff', eventId, n);
        previous = Math.min(draw, Math.max(policy.capInMs, FLOOR_IN_MS));
      }
      return previous;
    }
  }
}

/** Spreads a floor that many events share (`Retry-After`) upward, by up to a tenth and at most a minute. */
export function spreadInMs(floorInMs: number, attempt: number, eventId: string): number {
  return Math.round(Math.min(floorInMs / 10 + FLOOR_IN_MS, 60_000) * fraction('spread', eventId, attempt));
}
