/**
 * Things that wait in the order in which they came, each once; any of them may leave. A set keeps that order, but to ask
 * for its first element anew each time would step over all that has left it: one cursor goes through it once.
 */
export class Line<T extends object> {
  readonly #waiting = new Set<T>();
  #cursor = this.#waiting.values();
  #first: T | undefined;

  has(item: T): boolean {
    return this.#waiting.has(item);
  }

  /** Puts `item` at the end, unless it waits already. */
  add(item: T): void {
    this.#waiting.add(item);
  }

  delete(item: T): void {
    this.#waiting.delete(item);
    if (item === this.#first) this.#first = undefined;
  }

  /** What has waited longest, left where it is; `undefined` when nothing waits. */
  first(): T | undefined {
    if (this.#waiting.size === 0) return undefined;
    // A cursor that has come to the end stays there, whatever comes later.
    if (this.#first === undefined) this.#first = this.#next() ?? this.#next();
    return this.#first;
  }

  #next(): T | undefined {
    const { done, value } = this.#cursor.next();
    if (done) this.#cursor = this.#waiting.values();
    return value;
  }
}
