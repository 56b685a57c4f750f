import type { Queue } from '../model/queue.ts';
import { type Consumer, Dispatcher } from './dispatcher.ts';

/** One dispatcher for each queue that has a link. */
export class Dispatchers {
  readonly #byQueue = new Map<Queue, Dispatcher>();

  /** @returns ends the link's share */
  attach(queue: Queue, consumer: Consumer): () => void {
    const dispatcher = this.#byQueue.get(queue) ?? new Dispatcher(queue);
    this.#byQueue.set(queue, dispatcher);
    dispatcher.add(consumer);
    return () => {
      dispatcher.remove(consumer);
      if (!dispatcher.isIdle) return;
      dispatcher.stop();
      this.#byQueue.delete(queue);
    };
  }

  /** Lets the queue serve its links: one of them may want more than before. */
  run(queue: Queue): void {
    this.#byQueue.get(queue)?.run();
  }
}
