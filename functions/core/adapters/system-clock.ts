import { setTimeout } from 'node:timers/promises';
import type { Clock } from '../pipeline/ports.ts';

/** Longest single timer: Node fires a longer one at once. */
const LONGEST_TIMER_IN_MS = 2 ** 31 - 1;

/** {@link Clock} by Node. A pause of more than 24 days ends after those: no timer of Node is longer. */
export const systemClock: Clock = {
  nowUtc: () => Date.now(),
  monotonicInMs: () => performance.now(),
  async sleep(delayInMs, signal) {
    try {
      await setTimeout(Math.min(delayInMs, LONGEST_TIMER_IN_MS), undefined, signal ? { signal } : {});
    } catch {
      // The signal fired: that is an end of the pause like any other.
    }
  },
};
