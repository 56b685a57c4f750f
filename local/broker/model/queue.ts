import type { Content } from './content.ts';
import { type DeadLetterCause, maxDeliveryCountExceeded, timeToLiveExpired } from './dead-letter-reasons.ts';
import type { Engine } from './engine.ts';
import { Inlet } from './inlet.ts';
import { Lane } from './lane.ts';
import type { Counts, Delivery, ReceiveMode, RenewResult, SendResult, Settlement, SettleResult } from './outcomes.ts';
import { deadLetterSettings, type QueueSettings } from './queue-settings.ts';
import { type Home, StoredMessage } from './stored-message.ts';

/** A receiver may dead-letter without saying why. */
type PartialCause = { readonly [Part in keyof DeadLetterCause]?: DeadLetterCause[Part] | undefined };

/**
 * A queue, a subscription, or one of their dead-letter queues. Every message is in exactly one place: scheduled in the
 * inlet, waiting in the lane, locked, deferred, or gone.
 */
export class Queue implements Home {
  readonly path: string;
  readonly settings: QueueSettings;
  readonly inlet: Inlet;
  /** Where dead letters go; `undefined` on a dead-letter queue itself. */
  readonly deadLetterQueue: Queue | undefined;
  readonly #engine: Engine;
  readonly #messages = new Map<number, StoredMessage>();
  readonly #locked = new Map<string, StoredMessage>();
  readonly #lane = new Lane();
  readonly #watchers = new Set<() => void>();
  #lastPosition = 0;
  #deferred = 0;

  constructor(engine: Engine, path: string, settings: QueueSettings, role: 'main' | 'deadLetter' = 'main') {
    this.#engine = engine;
    this.path = path;
    this.settings = settings;
    this.inlet = new Inlet(engine, {
      duplicateDetectionWindowInMs: settings.duplicateDetectionWindowInMs,
      requiresSession: settings.requiresSession,
      refusal: () => undefined,
      accept: (message) => this.#accept(message),
    });
    this.deadLetterQueue =
      role === 'main'
        ? new Queue(engine, `${path}/$DeadLetterQueue`, deadLetterSettings(settings), 'deadLetter')
        : undefined;
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

  /** Hands over the next message, `undefined` when none can be received. */
  receive(mode: ReceiveMode = 'peekLock'): Delivery | undefined {
    const nowUtc = this.#engine.catchUp();
    const message = this.#lane.take();
    return message === undefined ? undefined : this.#handOver(message, mode, nowUtc);
  }

  /** Hands over a deferred message by its number, `undefined` when none of that number is deferred. */
  receiveDeferred(sequenceNumber: number, mode: ReceiveMode = 'peekLock'): Delivery | undefined {
    const nowUtc = this.#engine.catchUp();
    const message = this.#messages.get(sequenceNumber);
    if (message?.state !== 'deferred') return undefined;
    this.#deferred--;
    return this.#handOver(message, mode, nowUtc);
  }

  /** Whether {@link Queue.receiveDeferred} would hand over the message of that number. */
  isDeferred(sequenceNumber: number): boolean {
    this.#engine.catchUp();
    return this.#messages.get(sequenceNumber)?.state === 'deferred';
  }

  /** Settles the message that `lockToken` holds. A token that holds nothing changes nothing. */
  settle(lockToken: string, settlement: Settlement): SettleResult {
    const nowUtc = this.#engine.catchUp();
    const message = this.#locked.get(lockToken);
    if (message === undefined) return { kind: 'lockLost' };
    if (settlement.kind === 'deadLetter' && this.deadLetterQueue === undefined) {
      return { kind: 'unsupported', detail: 'A message in a dead-letter queue cannot be dead-lettered again.' };
    }
    this.#unlock(message);
    switch (settlement.kind) {
      case 'complete':
        this.#remove(message);
        return { kind: 'settled' };
      case 'abandon':
        message.addProperties(settlement.properties);
        this.#endDelivery(message, nowUtc);
        return { kind: 'settled' };
      case 'defer':
        message.addProperties(settlement.properties);
        message.isDeferred = true;
        this.#putBack(message, nowUtc);
        return { kind: 'settled' };
      case 'deadLetter':
        message.addProperties(settlement.properties);
        this.#deadLetter(message, settlement);
        return { kind: 'settled' };
      case 'release':
        this.#putBack(message, nowUtc);
        return { kind: 'settled' };
    }
  }

  /** Extends the lock to a whole lock duration from now. */
  renew(lockToken: string): RenewResult {
    const nowUtc = this.#engine.catchUp();
    const message = this.#locked.get(lockToken);
    if (message === undefined) return { kind: 'lockLost' };
    message.lockedUntilUtc = nowUtc + this.settings.lockDurationInMs;
    this.#engine.timers.set(message, message.lockedUntilUtc);
    return { kind: 'renewed', lockedUntilUtc: message.lockedUntilUtc };
  }

  /**
   * Looks at up to `count` messages in the order of their sequence numbers, from `fromSequenceNumber` on, and changes
   * nothing. Locked, deferred and scheduled messages are shown too. A `sessionId` shows the messages of that session only.
   */
  peek(fromSequenceNumber: number, count: number, sessionId?: string): StoredMessage[] {
    this.#engine.catchUp();
    const found: StoredMessage[] = [];
    for (const store of [this.#messages, this.inlet.scheduled]) {
      for (const message of store.values()) {
        if (message.sequenceNumber < fromSequenceNumber) continue;
        if (sessionId === undefined || message.content.sessionId === sessionId) found.push(message);
      }
    }
    return found.sort((a, b) => a.sequenceNumber - b.sequenceNumber).slice(0, count);
  }

  /** How many messages are where. */
  counts(): Counts {
    this.#engine.catchUp();
    return {
      active: this.#messages.size - this.#deferred,
      scheduled: this.inlet.scheduled.size,
      deferred: this.#deferred,
      deadLetter: this.deadLetterQueue?.counts().active ?? 0,
      transferDeadLetter: 0,
    };
  }

  /**
   * Calls `watcher` whenever a message can be received, from within the operation that made it so.
   *
   * @returns ends the watch
   */
  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  onMessageDue(message: StoredMessage, instantUtc: number): void {
    if (message.state === 'locked') {
      this.#unlock(message);
      this.#endDelivery(message, instantUtc);
    } else {
      if (message.state === 'deferred') this.#deferred--;
      else this.#lane.forget();
      this.#expire(message);
    }
  }

  #accept(message: StoredMessage): void {
    const { defaultTimeToLiveInMs } = this.settings;
    message.home = this;
    message.position = ++this.#lastPosition;
    message.timeToLiveInMs = Math.min(message.content.timeToLiveInMs ?? defaultTimeToLiveInMs, defaultTimeToLiveInMs);
    message.expiresUtc = message.enqueuedUtc + message.timeToLiveInMs;
    this.#messages.set(message.sequenceNumber, message);
    this.#lane.append(message);
    this.#makeActive(message);
  }

  /** Takes in a message that left another queue, as it is: number, enqueue time and delivery count stay. */
  #adopt(from: StoredMessage): void {
    const message = new StoredMessage(this, from.content, from.sequenceNumber, from.enqueuedUtc);
    message.enqueueSequenceNumber = from.enqueueSequenceNumber;
    message.scheduledUtc = from.scheduledUtc;
    message.timeToLiveInMs = from.timeToLiveInMs;
    message.deliveryCount = from.deliveryCount;
    message.properties = from.properties;
    message.position = ++this.#lastPosition;
    this.#messages.set(message.sequenceNumber, message);
    this.#lane.append(message);
    this.#makeActive(message);
  }

  #handOver(message: StoredMessage, mode: ReceiveMode, nowUtc: number): Delivery {
    const { deliveryCount } = message;
    if (mode === 'receiveAndDelete') {
      this.#remove(message);
      return { message, lockToken: undefined, lockedUntilUtc: 0, deliveryCount };
    }
    const lockToken = this.#engine.newLockToken();
    message.state = 'locked';
    message.lockToken = lockToken;
    message.lockedUntilUtc = nowUtc + this.settings.lockDurationInMs;
    this.#locked.set(lockToken, message);
    this.#engine.timers.set(message, message.lockedUntilUtc);
    return { message, lockToken, lockedUntilUtc: message.lockedUntilUtc, deliveryCount };
  }

  #unlock(message: StoredMessage): void {
    if (message.lockToken !== undefined) this.#locked.delete(message.lockToken);
    message.lockToken = undefined;
  }

  /** A delivery has failed: abandoned, or its lock has ended. */
  #endDelivery(message: StoredMessage, instantUtc: number): void {
    message.deliveryCount++;
    const { maxDeliveryCount } = this.settings;
    if (message.deliveryCount >= maxDeliveryCount)
      this.#deadLetter(message, maxDeliveryCountExceeded(maxDeliveryCount));
    else this.#putBack(message, instantUtc);
  }

  /** Expiry leaves a locked message alone and applies here, when the lock ends. */
  #putBack(message: StoredMessage, instantUtc: number): void {
    if (message.expiresUtc <= instantUtc) {
      this.#expire(message);
    } else if (message.isDeferred) {
      message.state = 'deferred';
      this.#deferred++;
      this.#engine.timers.set(message, message.expiresUtc);
    } else {
      this.#lane.giveBack(message);
      this.#makeActive(message);
    }
  }

  #makeActive(message: StoredMessage): void {
    message.state = 'active';
    this.#engine.timers.set(message, message.expiresUtc);
    for (const watcher of this.#watchers) watcher();
  }

  #expire(message: StoredMessage): void {
    if (this.settings.deadLetteringOnMessageExpiration) this.#deadLetter(message, timeToLiveExpired);
    else this.#remove(message);
  }

  #deadLetter(message: StoredMessage, { reason, description }: PartialCause): void {
    this.#remove(message);
    const properties = new Map<string, string>();
    if (reason !== undefined) properties.set('DeadLetterReason', reason);
    if (description !== undefined) properties.set('DeadLetterErrorDescription', description);
    message.addProperties(properties);
    if (this.deadLetterQueue !== undefined) this.deadLetterQueue.#adopt(message);
  }

  #remove(message: StoredMessage): void {
    message.state = 'gone';
    this.#engine.timers.cancel(message);
    this.#messages.delete(message.sequenceNumber);
  }
}
