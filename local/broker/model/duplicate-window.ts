/**
 * Remembers message ids for a window of time. Consumption clears nothing, and a duplicate does not prolong the window.
 *
 * Ids stand in two generations, of which the older goes as a whole once the last of its windows has ended: forgetting
 * costs nothing for each id. A map that is emptied from its front has to step over all that was taken out of it.
 */
export class DuplicateWindow {
  #young = new Generation();
  #old = new Generation();
  #windowInMs: number;

  constructor(windowInMs: number) {
    this.#windowInMs = windowInMs;
  }

  /** How many ids are remembered: no more than came within two windows. */
  get size(): number {
    return this.#young.endsUtc.size + this.#old.endsUtc.size;
  }

  /** Whether `id` was seen within the window before `nowUtc`; remembers it when it was not. */
  isDuplicate(id: string, nowUtc: number): boolean {
    while (this.size > 0 && this.#old.lastEndUtc <= nowUtc) {
      this.#old = this.#young;
      this.#young = new Generation();
    }
    const endUtc = this.#young.endsUtc.get(id) ?? this.#old.endsUtc.get(id) ?? Number.NEGATIVE_INFINITY;
    if (endUtc > nowUtc) return true;
    this.#young.add(id, nowUtc + this.#windowInMs);
    return false;
  }

  /** Changes the window for ids that come from now on. */
  resize(windowInMs: number): void {
    this.#windowInMs = windowInMs;
  }
}

/** Ids, each with the end of its window in epoch milliseconds. */
class Generation {
  readonly endsUtc = new Map<string, number>();
  lastEndUtc = Number.NEGATIVE_INFINITY;

  add(id: string, endUtc: number): void {
    this.endsUtc.set(id, endUtc);
    this.lastEndUtc = Math.max(this.lastEndUtc, endUtc);
  }
}
