import type { Clock } from './clock.ts';
import type { ForwardTarget } from './forward-target.ts';
import { TimerHeap } from './timer-heap.ts';

/** What all entities of a namespace share: the time, the one timer heap, and where lock tokens come from. */
export class Engine {
  readonly timers = new TimerHeap();
  /** Called with the path of whatever begins to behave in another way. */
  onUpdated: (path: string) => void = () => {};
  readonly #clock: Clock;
  readonly #newLockToken: () => string;
  readonly #findTarget: (path: string) => ForwardTarget | undefined;

  constructor(clock: Clock, newLockToken: () => string, findTarget: (path: string) => ForwardTarget | undefined) {
    this.#clock = clock;
    this.#newLockToken = newLockToken;
    this.#findTarget = findTarget;
  }

  /** The queue or topic of that path, `undefined` when there is none. */
  targetOf(path: string): ForwardTarget | undefined {
    return this.#findTarget(path);
  }

  /**
   * Brings every entity to the present and returns it. Every operation starts here, so that no answer depends on whether
   * a timer has fired yet: a lock that has ended is lost, a due message is there.
   */
  catchUp(): number {
    const nowUtc = this.#clock.now();
    if (this.timers.nextDueUtc <= nowUtc) this.timers.runUntil(nowUtc);
    return nowUtc;
  }

  /** Milliseconds until something falls due, 0 when something has, `Infinity` when nothing ever will. */
  nextDueInMs(): number {
    return Math.max(0, this.timers.nextDueUtc - this.#clock.now());
  }

  newLockToken(): string {
    return this.#newLockToken();
  }
}
