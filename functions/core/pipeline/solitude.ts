import type { Clock } from './ports.ts';

/**
 * Who runs in a process at the same time: any number of deliveries together, or one suspect alone. A suspect is an
 * attempt whose earlier run ended without an outcome; where it kills its process again, no neighbour goes with it.
 */
export class Solitude {
  readonly #clock: Clock;
  #running = 0;
  #isAlone = false;
  #suspectsWaiting = 0;
  #changed = new AbortController();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Waits until the delivery may run; a suspect that waits goes before others.
   *
   * @param limitInMs how long to wait
   * @returns what to call when the run has ended; undefined where the wait was too long or the signal fired
   */
  async enter(isSuspect: boolean, limitInMs: number, signal: AbortSignal): Promise<(() => void) | undefined> {
    const endsAtInMs = this.#clock.monotonicInMs() + limitInMs;
    if (isSuspect) this.#suspectsWaiting++;
    try {
      while (!this.#mayEnter(isSuspect)) {
        const leftInMs = endsAtInMs - this.#clock.monotonicInMs();
        if (leftInMs <= 0 || signal.aborted) return undefined;
        await this.#clock.sleep(leftInMs, AbortSignal.any([this.#changed.signal, signal]));
      }
    } finally {
      if (isSuspect) this.#suspectsWaiting--;
    }
    this.#running++;
    this.#isAlone = isSuspect;
    return () => {
      this.#running--;
      this.#isAlone = false;
      this.#changed.abort();
      this.#changed = new AbortController();
    };
  }

  #mayEnter(isSuspect: boolean): boolean {
    return isSuspect ? this.#running === 0 : !this.#isAlone && this.#suspectsWaiting === 0;
  }
}
