import type { Queue } from '../model/queue.ts';

/** A link that takes messages from a queue. */
export interface Consumer {
  /** Whether the client has asked for more than it got. */
  wantsMore(): boolean;
  /** Hands over the next message; `false` when there is none. */
  sendNext(): boolean;
}

/** Hands the messages of one queue to its links in turn, as long as there are messages and links that want them. */
export class Dispatcher {
  readonly #consumers: Consumer[] = [];
  readonly #unwatch: () => void;
  #next = 0;
  #isRunning = false;

  constructor(queue: Queue) {
    this.#unwatch = queue.watch(() => this.run());
  }

  get isIdle(): boolean {
    return this.#consumers.length === 0;
  }

  add(consumer: Consumer): void {
    this.#consumers.push(consumer);
  }

  remove(consumer: Consumer): void {
    const index = this.#consumers.indexOf(consumer);
    if (index >= 0) this.#consumers.splice(index, 1);
  }

  /** Does nothing when it is already running further up the stack: that run sees what this one would. */
  run(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      for (let consumer = this.#nextWanting(); consumer?.sendNext(); consumer = this.#nextWanting());
    } finally {
      this.#isRunning = false;
    }
  }

  stop(): void {
    this.#unwatch();
  }

  #nextWanting(): Consumer | undefined {
    for (let tried = 0; tried < this.#consumers.length; tried++) {
      this.#next = (this.#next + 1) % this.#consumers.length;
      const consumer = this.#consumers[this.#next];
      if (consumer?.wantsMore()) return consumer;
    }
    return undefined;
  }
}
