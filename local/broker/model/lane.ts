import type { StoredMessage } from './stored-message.ts';

const COMPACT_ABOVE = 1024;

/**
 * Messages that can be received, in the order of their positions. New ones always come last, so they stand in a plain
 * list; those that come back (abandoned, lock expired) are few and stand in a heap beside it. Taking, adding and
 * returning cost the same whatever the depth. Messages that left from the middle are skipped when they are reached.
 */
export class Lane {
  #arrived: StoredMessage[] = [];
  #head = 0;
  readonly #returned: StoredMessage[] = [];
  #size = 0;

  /** How many messages can be received. */
  get size(): number {
    return this.#size;
  }

  /** Adds a message behind all others; its position must be above theirs. */
  append(message: StoredMessage): void {
    this.#arrived.push(message);
    this.#size++;
  }

  /** Puts a message back to where its position says: before all that came after it. */
  giveBack(message: StoredMessage): void {
    this.#size++;
    let index = this.#returned.push(message) - 1;
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = this.#returned[above] as StoredMessage;
      if (parent.position <= message.position) break;
      this.#returned[index] = parent;
      index = above;
    }
    this.#returned[index] = message;
  }

  /** Says that a message of this lane was set to `gone` and no longer counts. */
  forget(): void {
    this.#size--;
    if (this.#arrived.length - this.#head > 2 * this.#size + COMPACT_ABOVE) {
      this.#arrived = this.#arrived.slice(this.#head).filter((message) => message.state === 'active');
      this.#head = 0;
    }
  }

  /** The message that comes next, left where it is. */
  first(): StoredMessage | undefined {
    while (this.#head < this.#arrived.length && this.#arrived[this.#head]?.state !== 'active') this.#head++;
    while (this.#returned.length > 0 && this.#returned[0]?.state !== 'active') this.#popReturned();
    const arrived = this.#arrived[this.#head];
    const returned = this.#returned[0];
    if (arrived === undefined) return returned;
    return returned !== undefined && returned.position < arrived.position ? returned : arrived;
  }

  /** Takes the message that comes next. */
  take(): StoredMessage | undefined {
    const message = this.first();
    if (message === undefined) return undefined;
    this.#size--;
    if (message === this.#returned[0]) this.#popReturned();
    else this.#dropHead();
    return message;
  }

  #dropHead(): void {
    this.#head++;
    if (this.#head > COMPACT_ABOVE && 2 * this.#head > this.#arrived.length) {
      this.#arrived = this.#arrived.slice(this.#head);
      this.#head = 0;
    }
  }

  #popReturned(): void {
    const last = this.#returned.pop();
    if (last === undefined || this.#returned.length === 0) return;
    let index = 0;
    for (;;) {
      let least = 2 * index + 1;
      if (least >= this.#returned.length) break;
      const right = this.#returned[least + 1];
      if (right !== undefined && right.position < (this.#returned[least] as StoredMessage).position) least++;
      const child = this.#returned[least] as StoredMessage;
      if (last.position <= child.position) break;
      this.#returned[index] = child;
      index = least;
    }
    this.#returned[index] = last;
  }
}
