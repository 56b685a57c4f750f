import type { Clock } from './clock.ts';
import { Engine } from './engine.ts';
import { Queue } from './queue.ts';
import type { QueueSettings } from './queue-settings.ts';

/** What a namespace is made of. */
export type NamespaceOptions = {
  readonly clock: Clock;
  /** Queues by path. */
  readonly queues: ReadonlyMap<string, QueueSettings>;
  /** Where lock tokens come from: each a new UUID in its text form. Default: a counter, the same in every run. */
  readonly newLockToken?: () => string;
};

/**
 * The entity model: all queues of one namespace, with no I/O and no timer of its own. Whoever owns it calls
 * {@link Namespace.advance} when {@link Namespace.nextDueInMs} has passed. Every operation also brings the namespace to
 * the present first, so answers are right even when the owner is late; being late only delays the watchers.
 */
export class Namespace {
  readonly #engine: Engine;
  readonly #queues = new Map<string, Queue>();

  constructor({ clock, queues, newLockToken = countingTokens() }: NamespaceOptions) {
    this.#engine = new Engine(clock, newLockToken);
    for (const [path, settings] of queues) this.#add(new Queue(this.#engine, path, settings));
  }

  /**
   * A queue or dead-letter queue by its path, without regard to case.
   *
   * @throws Error when there is none
   */
  queue(path: string): Queue {
    const queue = this.find(path);
    if (queue === undefined) throw new Error(`The namespace has no queue '${path}'.`);
    return queue;
  }

  /** A queue or dead-letter queue by its path, without regard to case; `undefined` when there is none. */
  find(path: string): Queue | undefined {
    return this.#queues.get(path.toLowerCase());
  }

  /** Lets everything happen that is due at present: enqueue times, ends of locks, expiries. */
  advance(): void {
    this.#engine.catchUp();
  }

  /** Milliseconds until {@link Namespace.advance} has something to do; `Infinity` when it never will. */
  nextDueInMs(): number {
    return this.#engine.nextDueInMs();
  }

  /**
   * Calls `listener` whenever {@link Namespace.nextDueInMs} has become shorter by more than the passing of time. There is
   * one listener: whoever owns the namespace.
   *
   * @returns ends the calls
   */
  onEarlierDue(listener: () => void): () => void {
    this.#engine.timers.onEarlier = listener;
    return () => {
      this.#engine.timers.onEarlier = () => {};
    };
  }

  #add(queue: Queue): void {
    this.#queues.set(queue.path.toLowerCase(), queue);
    if (queue.deadLetterQueue !== undefined) this.#add(queue.deadLetterQueue);
  }
}

function countingTokens(): () => string {
  let count = 0;
  return () => `00000000-0000-4000-8000-${(++count).toString(16).padStart(12, '0')}`;
}
