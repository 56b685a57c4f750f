/**
 * Remembers message ids for a window of time. Consumption clears nothing, and a duplicate does not prolong the window.
 * Ids are remembered in the order in which they end, so forgetting needs no timer.
 */
export class DuplicateWindow {
  readonly #endsUtc = new Map<string, number>();
  #windowInMs: number;

  constructor(windowInMs: number) {
    this.#windowInMs = windowInMs;
  }

  /** Whether `id` was seen within the window before `nowUtc`; remembers it when it was not. */
  isDuplicate(id: string, nowUtc: number): boolean {
    this.#forgetUntil(nowUtc);
    if ((this.#endsUtc.get(id) ?? 0) > nowUtc) return true;
    this.#endsUtc.delete(id);
    this.#endsUtc.set(id, nowUtc + this.#windowInMs);
    return false;
  }

  /** Changes the window for ids that come from now on. */
  resize(windowInMs: number): void {
    this.#windowInMs = windowInMs;
  }

  #forgetUntil(nowUtc: number): void {
    for (const [id, endUtc] of this.#endsUtc) {
      if (endUtc > nowUtc) return;
      this.#endsUtc.delete(id);
    }
  }
}
