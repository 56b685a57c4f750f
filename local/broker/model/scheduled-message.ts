import type { Content } from './content.ts';
import { StoredMessage } from './stored-message.ts';
import type { TimerNode } from './timer-heap.ts';

/** What a scheduled message needs from the inlet that holds it. */
export interface Scheduler {
  onScheduledDue(message: ScheduledMessage, instantUtc: number): void;
}

/**
 * A message that waits for its enqueue time. A hundred thousand of them may wait for weeks, so it holds only what it takes to
 * show it, and to make a {@link StoredMessage} of it when it is due.
 */
export class ScheduledMessage implements TimerNode {
  dueUtc = Number.POSITIVE_INFINITY;
  heapOrder = 0;
  heapIndex = -1;
  readonly content: Content;
  readonly sequenceNumber: number;
  readonly #sentUtc: number;
  readonly #scheduler: Scheduler;

  constructor(scheduler: Scheduler, content: Content, sequenceNumber: number, sentUtc: number) {
    this.#scheduler = scheduler;
    this.content = content;
    this.sequenceNumber = sequenceNumber;
    this.#sentUtc = sentUtc;
  }

  onDue(instantUtc: number): void {
    this.#scheduler.onScheduledDue(this, instantUtc);
  }

  /** The message as a peek shows it. */
  shown(): StoredMessage {
    const shown = new StoredMessage(this.content, this.sequenceNumber, this.#sentUtc);
    shown.state = 'scheduled';
    shown.scheduledUtc = this.dueUtc;
    shown.timeToLiveInMs = this.content.timeToLiveInMs ?? Number.POSITIVE_INFINITY;
    return shown;
  }
}
