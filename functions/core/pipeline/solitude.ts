import type { Clock } from './ports.ts';

/** A place among those who are at work: from before the claim until all is recorded and settled. */
export interface Turn {
  /** Makes it a place where nobody else comes in, if nobody else is there. @returns whether it is one */
  stayAlone(): boolean;
  /** Gives the place back; the first call counts. */
  leave(): void;
}

/**
 * Who is at work in a process at the same time: any number of deliveries together, or one suspect alone. A suspect
 * is an attempt whose earlier run ended without an outcome; where it kills its process again, no neighbour goes with it.
 */
export class Solitude {
  readonly #clock: Clock;
  #present = 0;
  #isAlone = false;
  #suspectsWaiting = 0;
  #changed = new AbortController();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Waits for a place; a suspect that waits goes before others.
   *
   * @param limitInMs how long to wait
   * @returns undefined where the wait was too long or the signal fired
   */
  async enter(isSuspect: boolean, limitInMs: number, signal: AbortSignal): Promise<Turn | undefined> {
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
    this.#present++;
    this.#isAlone = isSuspect;
    return this.#turn();
  }

  #mayEnter(isSuspect: boolean): boolean {
    return isSuspect ? this.#present === 0 : !this.#isAlone && this.#suspectsWaiting === 0;
  }

  #turn(): Turn {
    let hasLeft = false;
    return {
      stayAlone: () => {
        this.#isAlone = this.#present === 1;
        return this.#isAlone;
      },
      leave: () => {
        if (hasLeft) return;
        hasLeft = true;
        this.#present--;
        this.#isAlone = false;
        this.#changed.abort();
        this.#changed = new AbortController();
      },
    };
  }
}
