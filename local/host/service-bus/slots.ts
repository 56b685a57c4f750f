/** Lets so many run at a time; the others wait, first come, first served. */
export class Slots {
  readonly #size: number;
  #used = 0;
  readonly #waiting: (() => void)[] = [];
  readonly #whenIdle: (() => void)[] = [];

  constructor(size: number) {
    this.#size = size;
  }

  async use<T>(act: () => Promise<T>): Promise<T> {
    if (this.#used >= this.#size) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#used += 1;
    try {
      return await act();
    } finally {
      const next = this.#waiting.shift();
      // The slot goes from hand to hand, so that nobody slips in between.
      if (next) next();
      else this.#leave();
    }
  }

  /** Resolves when nothing runs and nothing waits. */
  idle(): Promise<void> {
    return this.#used === 0 ? Promise.resolve() : new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  #leave(): void {
    this.#used -= 1;
    if (this.#used > 0) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }
}
