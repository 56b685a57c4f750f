import type { Clock } from '../../functions/core/pipeline/ports.ts';

interface Timer {
  readonly dueInMs: number;
  readonly order: number;
  fire(): void;
}

export interface VirtualClock extends Clock {
  /** Calls `action` at this monotonic instant, in ms since the start, when the clock gets there. */
  at(instantInMs: number, action: () => void): void;
  /** Lets everything run until it waits, then moves on by this long, and lets happen what falls due on the way. */
  advance(byInMs: number): Promise<void>;
  /** Sleeps and actions that have not ended. */
  pending(): number;
}

/** Everything that waits for a promise has gone on: the fakes wait for nothing else. */
const idle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * A clock that stands still while anything runs. Once everything waits it jumps to the next instant that something waits
 * for; no real time passes.
 *
 * @param startUtc epoch milliseconds at monotonic 0
 */
export function virtualClock(startUtc: number): VirtualClock {
  const timers = new Set<Timer>();
  let nowInMs = 0;
  let order = 0;
  let isWatching = false;
  let isHeld = false;

  const next = (): Timer | undefined => [...timers].sort((a, b) => a.dueInMs - b.dueInMs || a.order - b.order)[0];
  const fireNext = (timer: Timer): void => {
    timers.delete(timer);
    nowInMs = Math.max(nowInMs, timer.dueInMs);
    timer.fire();
  };
  /** Jumps ahead until nothing waits any more. */
  const watch = async (): Promise<void> => {
    if (isWatching) return;
    isWatching = true;
    for (await idle(); timers.size > 0 && !isHeld; await idle()) {
      const timer = next();
      if (timer) fireNext(timer);
    }
    isWatching = false;
  };
  const add = (inMs: number, fire: () => void): Timer => {
    if (!(inMs >= 0)) throw new RangeError(`expected a duration, got ${inMs}`);
    const timer = { dueInMs: nowInMs + inMs, order: order++, fire };
    timers.add(timer);
    void watch();
    return timer;
  };

  return {
    nowUtc: () => startUtc + nowInMs,
    monotonicInMs: () => nowInMs,
    sleep: (delayInMs, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const timer = add(delayInMs, resolve);
        signal?.addEventListener('abort', () => {
          timers.delete(timer);
          resolve();
        });
        return undefined;
      }),
    at: (instantInMs, action) => void add(instantInMs - nowInMs, action),
    async advance(byInMs) {
      const endInMs = nowInMs + byInMs;
      isHeld = true;
      await idle();
      for (let timer = next(); timer && timer.dueInMs <= endInMs; timer = next()) {
        fireNext(timer);
        await idle();
      }
      nowInMs = Math.max(nowInMs, endInMs);
      isHeld = false;
      void watch();
    },
    pending: () => timers.size,
  };
}
