import type { Clock } from '../../functions/core/pipeline/ports.ts';
import type { Instance } from './instance.ts';
import { NOON_UTC } from './world.ts';

/** Where monotonic clocks stand at noon. */
const MONOTONIC_AT_NOON_IN_MS = 5_000;

/** The clocks of one process on the world's timeline; what waits in a process dies with it. */
export function processClock(instance: Instance, skewInMs: number): Clock {
  const { timeline } = instance.world;
  return {
    nowUtc: () => timeline.nowUtc + skewInMs,
    monotonicInMs: () => timeline.nowUtc - NOON_UTC + MONOTONIC_AT_NOON_IN_MS,
    sleep: (delayInMs, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        if (instance.isDead) return undefined;
        const end = () => {
          timeline.cancel(appointment);
          signal?.removeEventListener('abort', end);
          instance.resume(resolve);
        };
        const appointment = timeline.in(delayInMs, end);
        signal?.addEventListener('abort', end);
        return undefined;
      }),
  };
}
