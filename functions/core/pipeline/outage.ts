import type { Clock } from './ports.ts';

const FIRST_PAUSE_IN_MS = 250;
const LONGEST_PAUSE_IN_MS = 5_000;
/** A service that asks to be left alone for longer is asked all the same: outages end earlier than announced, too. */
const LONGEST_WISH_IN_MS = 60_000;

/** The right to call a service once. A probe asks for all who wait. */
export interface Turn {
  readonly isProbe: boolean;
}

/**
 * What a process knows of one service being down, shared by all its deliveries: while it lasts only one of them at a
 * time asks, after pauses that double, and the others wait in place for its answer. So an outage brakes the intake and
 * costs the service one question every few seconds, however many deliveries wait.
 */
export class Outage {
  readonly #clock: Clock;
  /** Fires when the service answers; absent while it is up. */
  #over: AbortController | undefined;
  #pauseInMs = FIRST_PAUSE_IN_MS;
  #isProbed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether nothing is known of it being down. */
  get isOver(): boolean {
    return this.#over === undefined;
  }

  /**
   * Waits for the turn to call the service: at once while it is up; in an outage after a pause for the one that probes,
   * and for the others until it is over or the probe's place is free.
   *
   * @returns undefined where the signal fired first
   */
  async turn(signal: AbortSignal): Promise<Turn | undefined> {
    while (this.#over && !signal.aborted) {
      const isProbe = !this.#isProbed;
      this.#isProbed = true;
      await this.#clock.sleep(this.#pauseInMs, AbortSignal.any([this.#over.signal, signal]));
      if (!isProbe) continue;
      if (!signal.aborted) return { isProbe };
      this.#isProbed = false;
    }
    return signal.aborted ? undefined : { isProbe: false };
  }

  /** The service answered: those who wait go on at once. */
  succeeded(): void {
    this.#over?.abort();
    this.#over = undefined;
    this.#isProbed = false;
  }

  /**
   * The call of this turn was not answered.
   *
   * @param retryAfterInMs how long the service asked to be left alone
   */
  failed(turn: Turn, retryAfterInMs = 0): void {
    if (!this.#over) {
      this.#over = new AbortController();
      this.#pauseInMs = FIRST_PAUSE_IN_MS;
    } else if (turn.isProbe) {
      this.#isProbed = false;
      this.#pauseInMs = Math.min(this.#pauseInMs * 2, LONGEST_PAUSE_IN_MS);
    }
    this.#pauseInMs = Math.max(this.#pauseInMs, Math.min(retryAfterInMs, LONGEST_WISH_IN_MS));
  }
}
