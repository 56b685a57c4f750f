import type { Content } from './content.ts';
import {
  causeProperties,
  type DeadLetterCause,
  maxDeliveryCountExceeded,
  type PartialCause,
  sessionIdIsNull,
  timeToLiveExpired,
} from './dead-letter-reasons.ts';
import type { Engine } from './engine.ts';
import { forward } from './forward.ts';
import { Inlet } from './inlet.ts';
import { MessageStore, type Watcher } from './message-store.ts';
import {
  type Counts,
  type Delivery,
  deliveryOf,
  entityDisabled,
  quotaExceeded,
  type ReceiveMode,
  type Refusal,
  type RenewResult,
  type SendResult,
  type Settlement,
  type SettleResult,
} from './outcomes.ts';
import { deadLetterSettings, givesMessages, type QueueSettings, takesSends } from './queue-settings.ts';
import { ScheduledMessage } from './scheduled-message.ts';
import { type SessionHold, SessionTable } from './session-table.ts';
import { type Home, StoredMessage } from './stored-message.ts';

/** What a queue is for: dead-letter queues have none of their own. */
export type QueueRole = 'main' | 'deadLetter';

/** A queue, a subscription, or one of their dead-letter queues: when a message is handed over, comes back, or leaves. */
export class Queue implements Home {
  readonly kind = 'queue';
  readonly path: string;
  readonly inlet: Inlet;
  /** Where dead letters go; `undefined` on a dead-letter queue itself. */
  readonly deadLetterQueue: Queue | undefined;
  /** Where messages go that could not be forwarded; `undefined` on a dead-letter queue. */
  readonly transferDeadLetterQueue: Queue | undefined;
  /** The sessions of an entity that requires them. */
  readonly sessions: SessionTable | undefined;
  readonly #engine: Engine;
  #settings: QueueSettings;
  readonly #store: MessageStore;

  constructor(engine: Engine, path: string, settings: QueueSettings, role: QueueRole = 'main') {
    this.#engine = engine;
    this.path = path;
    this.#settings = settings;
    this.inlet = new Inlet(engine, {
      duplicateDetectionWindowInMs: settings.duplicateDetectionWindowInMs,
      requiresSession: settings.requiresSession,
      refusal: (sizeInBytes) => this.#refusal(sizeInBytes),
      accept: (message) => this.#accept(message),
    });
    const endDelivery = (message: StoredMessage, instantUtc: number) => this.#endDelivery(message, instantUtc);
    const giveBack = (message: StoredMessage) => this.#store.putBack(message);
    const lockDurationInMs = () => this.#settings.lockDurationInMs;
    const rules = { lockDurationInMs, endDelivery, giveBack };
    this.sessions = settings.requiresSession ? new SessionTable(engine, rules) : undefined;
    this.#store = new MessageStore(engine, lockDurationInMs, this.sessions);
    const subQueue = (name: string) => new Queue(engine, `${path}/${name}`, deadLetterSettings(settings), 'deadLetter');
    this.deadLetterQueue = role === 'main' ? subQueue('$DeadLetterQueue') : undefined;
    this.transferDeadLetterQueue = role === 'main' ? subQueue('$Transfer/$DeadLetterQueue') : undefined;
  }

  get settings(): QueueSettings {
    return this.#settings;
  }

  /**
   * Changes how the queue behaves from now on; what it holds keeps its locks and its expiry. Whether it has sessions and
   * detects duplicates is settled for good when it is made.
   */
  update(settings: QueueSettings): void {
    const { requiresSession } = this.#settings;
    this.#settings = { ...settings, requiresSession };
    this.inlet.resizeDuplicateWindow(settings.duplicateDetectionWindowInMs);
    for (const dead of [this.deadLetterQueue, this.transferDeadLetterQueue]) dead?.update(deadLetterSettings(settings));
    if (givesMessages(settings.status)) this.#store.announceAll();
    this.#engine.onUpdated(this.path);
  }

  /** Drops everything that it holds, dead letters included. */
  clear(): void {
    this.inlet.clear();
    this.#store.clear();
    for (const dead of [this.deadLetterQueue, this.transferDeadLetterQueue]) dead?.clear();
  }

  /**
   * Takes in the copy of a message that its topic has taken: it can be refused no more. One that belongs to no session,
   * where there are sessions, is a dead letter at once.
   */
  takeCopy(copy: StoredMessage): void {
    if (this.sessions === undefined || copy.content.sessionId !== undefined) {
      this.inlet.takeIn(copy, { instantUtc: copy.enqueuedUtc });
      return;
    }
    copy.sequenceNumber = this.inlet.nextSequenceNumber();
    this.#setAside(copy, { cause: sessionIdIsNull, into: 'deadLetter' });
  }

  /** Sends a message; see {@link Inlet.send}. */
  send(content: Content, scheduledUtc?: number): SendResult {
    return this.inlet.send(content, scheduledUtc);
  }

  /** Schedules a message for `dueUtc`; an instant that has passed sends it now. */
  schedule(content: Content, dueUtc: number): SendResult {
    return this.inlet.send(content, dueUtc);
  }

  /** Takes a scheduled message back; `false` when no scheduled message has that number. */
  cancel(sequenceNumber: number): boolean {
    return this.inlet.cancel(sequenceNumber);
  }

  /**
   * Hands over the next message, `undefined` when none can be received. On an entity with sessions `hold` says which
   * session; without a hold, or with one that is over, nothing can be received there.
   */
  receive(mode: ReceiveMode = 'peekLock', hold?: SessionHold): Delivery | undefined {
    const nowUtc = this.#engine.catchUp();
    if (!givesMessages(this.#settings.status)) return undefined;
    const message = this.#store.takeNext(mode, nowUtc, hold);
    return message === undefined ? undefined : deliveryOf(message);
  }

  /**
   * Hands over a deferred message by its number, `undefined` when none of that number is deferred. On an entity with
   * sessions the session of the message must be held.
   */
  receiveDeferred(sequenceNumber: number, mode: ReceiveMode = 'peekLock', hold?: SessionHold): Delivery | undefined {
    const nowUtc = this.#engine.catchUp();
    const message = this.#store.get(sequenceNumber);
    if (message === undefined || !this.isDeferred(sequenceNumber, hold)) return undefined;
    this.#store.takeDeferred(message, mode, nowUtc, hold);
    return deliveryOf(message);
  }

  /** Whether {@link Queue.receiveDeferred} would hand over the message of that number. */
  isDeferred(sequenceNumber: number, hold?: SessionHold): boolean {
    this.#engine.catchUp();
    const message = this.#store.get(sequenceNumber);
    if (message?.state !== 'deferred') return false;
    return this.sessions === undefined || (hold?.isOver === false && message.content.sessionId === hold.sessionId);
  }

  /** Settles the message that `lockToken` holds. A token that holds nothing changes nothing. */
  settle(lockToken: string, settlement: Settlement): SettleResult {
    const nowUtc = this.#engine.catchUp();
    const message = this.#store.byLockToken(lockToken);
    if (message === undefined) return { kind: 'lockLost' };
    if (settlement.kind === 'deadLetter' && this.deadLetterQueue === undefined) {
      return { kind: 'unsupported', detail: 'A message in a dead-letter queue cannot be dead-lettered again.' };
    }
    switch (settlement.kind) {
      case 'complete':
        this.#store.remove(message);
        return { kind: 'settled' };
      case 'abandon':
        message.addProperties(settlement.properties);
        this.#endDelivery(message, nowUtc);
        return { kind: 'settled' };
      case 'defer':
        message.addProperties(settlement.properties);
        message.isDeferred = true;
        this.#store.putBack(message);
        return { kind: 'settled' };
      case 'deadLetter':
        message.addProperties(settlement.properties);
        this.#deadLetter(message, settlement, nowUtc);
        return { kind: 'settled' };
      case 'release':
        this.#store.putBack(message);
        return { kind: 'settled' };
    }
  }

  /** Extends the lock to a whole lock duration from now. Under a session there is no lock but the session's. */
  renew(lockToken: string): RenewResult {
    const nowUtc = this.#engine.catchUp();
    const message = this.#store.byLockToken(lockToken);
    if (message === undefined || this.sessions !== undefined) return { kind: 'lockLost' };
    this.#store.extendLock(message, nowUtc);
    return { kind: 'renewed', lockedUntilUtc: message.lockedUntilUtc };
  }

  /**
   * Looks at up to `count` messages in the order of their sequence numbers, from `fromSequenceNumber` on, and changes
   * nothing. Locked, deferred and scheduled messages are shown too. A `sessionId` shows the messages of that session only.
   */
  peek(fromSequenceNumber: number, count: number, sessionId?: string): StoredMessage[] {
    this.#engine.catchUp();
    const found: (StoredMessage | ScheduledMessage)[] = [];
    for (const messages of [this.#store.all(), this.inlet.scheduled.values()]) {
      for (const message of messages) {
        if (message.sequenceNumber < fromSequenceNumber) continue;
        if (sessionId === undefined || message.content.sessionId === sessionId) found.push(message);
      }
    }
    const shown = found.sort((a, b) => a.sequenceNumber - b.sequenceNumber).slice(0, count);
    return shown.map((message) => (message instanceof ScheduledMessage ? message.shown() : message));
  }

  /** How many messages are where. */
  counts(): Counts {
    this.#engine.catchUp();
    return {
      active: this.#store.size - this.#store.deferredCount,
      scheduled: this.inlet.scheduled.size,
      deferred: this.#store.deferredCount,
      deadLetter: this.deadLetterQueue?.counts().active ?? 0,
      transferDeadLetter: this.transferDeadLetterQueue?.counts().active ?? 0,
    };
  }

  /**
   * Calls `watcher` whenever a message can be received, from within the operation that made it so.
   *
   * @returns ends the watch
   */
  watch(watcher: Watcher): () => void {
    this.#store.watchers.add(watcher);
    return () => this.#store.watchers.delete(watcher);
  }

  onMessageDue(message: StoredMessage, instantUtc: number): void {
    if (message.state === 'locked') this.#endDelivery(message, instantUtc);
    else this.#expire(message, instantUtc);
  }

  /** Bytes of everything that counts towards the size of the entity: its messages, scheduled ones and dead letters. */
  get sizeInBytes(): number {
    const { deadLetterQueue, transferDeadLetterQueue } = this;
    const subQueues = (deadLetterQueue?.sizeInBytes ?? 0) + (transferDeadLetterQueue?.sizeInBytes ?? 0);
    return this.#store.sizeInBytes + this.inlet.scheduledSizeInBytes + subQueues;
  }

  /** The message that a lock holds, `undefined` when the lock is lost. */
  locked(lockToken: string): StoredMessage | undefined {
    this.#engine.catchUp();
    return this.#store.byLockToken(lockToken);
  }

  #refusal(sizeInBytes: number): Refusal | undefined {
    const { maxSizeInBytes, status } = this.settings;
    if (!takesSends(status)) return entityDisabled(this.path);
    if (this.sizeInBytes + sizeInBytes <= maxSizeInBytes) return undefined;
    return quotaExceeded(this.path, maxSizeInBytes);
  }

  #accept(message: StoredMessage): void {
    const { defaultTimeToLiveInMs, forwardTo } = this.settings;
    if (forwardTo !== undefined) {
      const failure = forward(this.#engine, message, { path: forwardTo, instantUtc: message.enqueuedUtc });
      if (failure !== undefined) this.#setAside(message, failure);
      return;
    }
    const ownInMs = message.content.timeToLiveInMs ?? defaultTimeToLiveInMs;
    message.home = this;
    message.timeToLiveInMs = Math.min(message.timeToLiveInMs, ownInMs, defaultTimeToLiveInMs);
    message.expiresUtc = message.enqueuedUtc + message.timeToLiveInMs;
    this.#store.append(message);
  }

  /** A delivery has failed: abandoned, or its lock has ended. */
  #endDelivery(message: StoredMessage, instantUtc: number): void {
    message.deliveryCount++;
    const { maxDeliveryCount } = this.settings;
    if (message.deliveryCount < maxDeliveryCount) this.#store.putBack(message);
    else this.#deadLetter(message, maxDeliveryCountExceeded(maxDeliveryCount), instantUtc);
  }

  #expire(message: StoredMessage, instantUtc: number): void {
    if (this.settings.deadLetteringOnMessageExpiration) this.#deadLetter(message, timeToLiveExpired, instantUtc);
    else this.#store.remove(message);
  }

  #deadLetter(message: StoredMessage, cause: PartialCause, instantUtc: number): void {
    this.#store.remove(message);
    message.addProperties(causeProperties(cause));
    const path = this.settings.forwardDeadLetteredMessagesTo;
    if (path === undefined) {
      this.deadLetterQueue?.adopt(message);
      return;
    }
    const failure = forward(this.#engine, message, { path, instantUtc, deadLetterSource: this.path });
    if (failure !== undefined) this.#setAside(message, failure);
  }

  /** A message that cannot be forwarded waits where somebody finds it, with the reason. */
  #setAside(
    message: StoredMessage,
    { cause, into }: { cause: DeadLetterCause; into: 'deadLetter' | 'transfer' },
  ): void {
    message.addProperties(causeProperties(cause));
    (into === 'transfer' ? this.transferDeadLetterQueue : this.deadLetterQueue)?.adopt(message);
  }

  /** Takes in a message that left its queue, as it is: number, enqueue time and delivery count stay. Dead-letter queues only. */
  adopt(from: StoredMessage): void {
    const message = new StoredMessage(from.content, from.sequenceNumber, from.enqueuedUtc);
    message.home = this;
    message.enqueueSequenceNumber = from.enqueueSequenceNumber;
    message.scheduledUtc = from.scheduledUtc;
    message.timeToLiveInMs = from.timeToLiveInMs;
    message.deliveryCount = from.deliveryCount;
    message.properties = from.properties;
    this.#store.append(message);
  }
}
