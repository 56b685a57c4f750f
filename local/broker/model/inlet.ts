import type { Content } from './content.ts';
import { DuplicateWindow } from './duplicate-window.ts';
import type { Engine } from './engine.ts';
import type { ForwardTarget, Transfer } from './forward-target.ts';
import { type Refusal, type SendResult, sessionIdMissing } from './outcomes.ts';
import { ScheduledMessage, type Scheduler } from './scheduled-message.ts';
import { StoredMessage } from './stored-message.ts';

/** What an inlet needs to know of the queue or topic it belongs to. */
export type InletOptions = {
  readonly duplicateDetectionWindowInMs: number | undefined;
  readonly requiresSession: boolean;
  /** Why the entity does not take so many bytes at present, if so. */
  refusal(sizeInBytes: number): Refusal | undefined;
  /** Takes a message in that has become active at `message.enqueuedUtc`. */
  accept(message: StoredMessage): void;
};

/** The way into a queue or a topic: gives sequence numbers, drops duplicates and holds messages until they are due. */
export class Inlet implements Scheduler, ForwardTarget {
  /** Messages that wait for their enqueue time, by sequence number. */
  readonly scheduled = new Map<number, ScheduledMessage>();
  readonly #engine: Engine;
  readonly #options: InletOptions;
  readonly #duplicates: DuplicateWindow | undefined;
  #lastSequenceNumber = 0;
  #scheduledSizeInBytes = 0;

  constructor(engine: Engine, options: InletOptions) {
    this.#engine = engine;
    this.#options = options;
    this.#duplicates =
      options.duplicateDetectionWindowInMs === undefined
        ? undefined
        : new DuplicateWindow(options.duplicateDetectionWindowInMs);
  }

  /** Bytes of the messages that wait for their enqueue time. */
  get scheduledSizeInBytes(): number {
    return this.#scheduledSizeInBytes;
  }

  /** Why these would be refused, without sending them: a batch is sent whole or not at all. */
  refusalOf(contents: readonly Content[]): Refusal | undefined {
    const { requiresSession, refusal } = this.#options;
    if (requiresSession && contents.some(({ sessionId }) => sessionId === undefined)) return sessionIdMissing;
    return refusal(contents.reduce((sum, { bytes }) => sum + bytes.length, 0));
  }

  /**
   * Sends now, or holds until `scheduledUtc` when that lies ahead. Duplicate detection looks at the moment of the send in
   * both cases.
   */
  send(content: Content, scheduledUtc?: number): SendResult {
    const nowUtc = this.#engine.catchUp();
    const refusal = this.refusalOf([content]);
    if (refusal !== undefined) return refusal;
    const sequenceNumber = ++this.#lastSequenceNumber;
    if (this.isDuplicate(content, nowUtc)) return { kind: 'duplicate', sequenceNumber };
    if (scheduledUtc === undefined || scheduledUtc <= nowUtc) {
      const message = new StoredMessage(content, sequenceNumber, nowUtc);
      message.scheduledUtc = scheduledUtc;
      this.#options.accept(message);
      return { kind: 'enqueued', sequenceNumber };
    }
    const message = new ScheduledMessage(this, content, sequenceNumber, nowUtc);
    this.scheduled.set(sequenceNumber, message);
    this.#scheduledSizeInBytes += content.bytes.length;
    this.#engine.timers.set(message, scheduledUtc);
    return { kind: 'scheduled', sequenceNumber };
  }

  /**
   * Takes in a message that comes from another entity, with a new sequence number. What settlements added to it stays.
   * A {@link StoredMessage.timeToLiveInMs} that it has already is a cap.
   */
  transfer(from: StoredMessage, transfer: Transfer): SendResult {
    return this.refusalOf([from.content]) ?? this.takeIn(from, transfer);
  }

  /** As {@link Inlet.transfer}, for what cannot be refused any more. */
  takeIn(from: StoredMessage, { instantUtc, deadLetterSource }: Transfer): SendResult {
    const sequenceNumber = this.nextSequenceNumber();
    if (this.isDuplicate(from.content, instantUtc)) return { kind: 'duplicate', sequenceNumber };
    const message = new StoredMessage(from.content, sequenceNumber, instantUtc);
    message.enqueueSequenceNumber = from.enqueueSequenceNumber;
    message.scheduledUtc = from.scheduledUtc;
    message.timeToLiveInMs = from.state === 'gone' ? Number.POSITIVE_INFINITY : from.timeToLiveInMs;
    message.addProperties(from.properties);
    message.deadLetterSource = deadLetterSource ?? from.deadLetterSource;
    message.hops = from.hops + 1;
    this.#options.accept(message);
    return { kind: 'enqueued', sequenceNumber };
  }

  /** Whether duplicate detection drops `content` at `nowUtc`; remembers its id otherwise. Per session where there are sessions. */
  isDuplicate(content: Content, nowUtc: number): boolean {
    if (this.#duplicates === undefined || content.messageId === undefined) return false;
    const scope = this.#options.requiresSession ? `${content.sessionId}\u0000` : '';
    return this.#duplicates.isDuplicate(scope + content.messageId, nowUtc);
  }

  /** Takes a scheduled message back before it is due; `false` when there is none of that number. */
  cancel(sequenceNumber: number): boolean {
    this.#engine.catchUp();
    const message = this.scheduled.get(sequenceNumber);
    if (message === undefined) return false;
    this.#engine.timers.cancel(message);
    this.#forget(message);
    return true;
  }

  /** Drops everything that waits for its enqueue time. */
  clear(): void {
    for (const sequenceNumber of [...this.scheduled.keys()]) this.cancel(sequenceNumber);
  }

  /** Changes how long ids are remembered; whether they are is settled for good when the entity is made. */
  resizeDuplicateWindow(windowInMs: number | undefined): void {
    if (windowInMs !== undefined) this.#duplicates?.resize(windowInMs);
  }

  /** The next sequence number, for messages that arrive by another way than a send. */
  nextSequenceNumber(): number {
    return ++this.#lastSequenceNumber;
  }

  /** A scheduled message becomes active with a new sequence number; its time to live starts here. */
  onScheduledDue(message: ScheduledMessage, instantUtc: number): void {
    this.#forget(message);
    const active = new StoredMessage(message.content, this.nextSequenceNumber(), instantUtc);
    active.enqueueSequenceNumber = message.sequenceNumber;
    active.scheduledUtc = message.dueUtc;
    this.#options.accept(active);
  }

  #forget({ sequenceNumber, content }: ScheduledMessage): void {
    this.scheduled.delete(sequenceNumber);
    this.#scheduledSizeInBytes -= content.bytes.length;
  }
}
