import type { Content } from './content.ts';
import { type DeadLetterCause, maxDeliveryCountExceeded, timeToLiveExpired } from './dead-letter-reasons.ts';
import type { Engine } from './engine.ts';
import { Inlet } from './inlet.ts';
import { Lane } from './lane.ts';
import type { Counts, Delivery, ReceiveMode, RenewResult, SendResult, Settlement, SettleResult } from './outcomes.ts';
import { deadLetterSettings, type QueueSettings } from './queue-settings.ts';
import { type Session, type SessionHold, SessionTable } from './session-table.ts';
import { type Home, StoredMessage } from './stored-message.ts';

/** A receiver may dead-letter without saying why. */
type PartialCause = { readonly [Part in keyof DeadLetterCause]?: DeadLetterCause[Part] | undefined };

/** Called when a message can be received; with the session it belongs to, on an entity that has sessions. */
export type Watcher = (sessionId: string | undefined) => void;

/**
 * A queue, a subscription, or one of their dead-letter queues. Every message is in exactly one place: scheduled in the
 * inlet, waiting in a lane, locked, deferred, or gone.
 */
export class Queue implements Home {
  readonly path: string;
  readonly settings: QueueSettings;
  readonly inlet: Inlet;
  /** Where dead letters go; `undefined` on a dead-letter queue itself. */
  readonly deadLetterQueue: Queue | undefined;
  /** Where messages go that could not be forwarded; `undefined` on a dead-letter queue. */
  readonly transferDeadLetterQueue: Queue | undefined;
  /** The sessions of an entity that requires them. */
  readonly sessions: SessionTable | undefined;
  readonly #engine: Engine;
  readonly #messages = new Map<number, StoredMessage>();
  readonly #locked = new Map<string, StoredMessage>();
  readonly #lane = new Lane();
  readonly #watchers = new Set<Watcher>();
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
    this.sessions = settings.requiresSession
      ? new SessionTable(engine, {
          lockDurationInMs: settings.lockDurationInMs,
          endDelivery: (message, instantUtc) => this.#endDelivery(message, instantUtc),
          giveBack: (message, instantUtc) => this.#putBack(message, instantUtc),
        })
      : undefined;
    const subQueue = (name: string) => new Queue(engine, `${path}/${name}`, deadLetterSettings(settings), 'deadLetter');
    this.deadLetterQueue = role === 'main' ? subQueue('$DeadLetterQueue') : undefined;
    this.transferDeadLetterQueue = role === 'main' ? subQueue('$Transfer/$DeadLetterQueue') : undefined;
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
    const session = this.#sessionOf(hold);
    if (session === undefined && this.sessions !== undefined) return undefined;
    const message = (session?.lane ?? this.#lane).take();
    if (message === undefined) return undefined;
    const delivery = this.#handOver(message, mode, nowUtc, session);
    if (session !== undefined) this.sessions?.refresh(session);
    return delivery;
  }

  /**
   * Hands over a deferred message by its number, `undefined` when none of that number is deferred. On an entity with
   * sessions the session of the message must be held.
   */
  receiveDeferred(sequenceNumber: number, mode: ReceiveMode = 'peekLock', hold?: SessionHold): Delivery | undefined {
    const nowUtc = this.#engine.catchUp();
    if (!this.isDeferred(sequenceNumber, hold)) return undefined;
    const message = this.#messages.get(sequenceNumber) as StoredMessage;
    this.#deferred--;
    return this.#handOver(message, mode, nowUtc, this.#sessionOf(hold));
  }

  /** Whether {@link Queue.receiveDeferred} would hand over the message of that number. */
  isDeferred(sequenceNumber: number, hold?: SessionHold): boolean {
    this.#engine.catchUp();
    const message = this.#messages.get(sequenceNumber);
    if (message?.state !== 'deferred') return false;
    return this.sessions === undefined || (hold?.isOver === false && message.content.sessionId === hold.sessionId);
  }

  /** Settles the message that `lockToken` holds. A token that holds nothing changes nothing. */
  settle(lockToken: string, settlement: Settlement): SettleResult {
    const nowUtc = this.#engine.catchUp();
    const message = this.#locked.get(lockToken);
    if (message === undefined) return { kind: 'lockLost' };
    if (settlement.kind === 'deadLetter' && this.deadLetterQueue === undefined) {
      return { kind: 'unsupported', detail: 'A message in a dead-letter queue cannot be dead-lettered again.' };
    }
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

  /** Extends the lock to a whole lock duration from now. Under a session there is no lock but the session's. */
  renew(lockToken: string): RenewResult {
    const nowUtc = this.#engine.catchUp();
    const message = this.#locked.get(lockToken);
    if (message === undefined || this.sessions !== undefined) return { kind: 'lockLost' };
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
      transferDeadLetter: this.transferDeadLetterQueue?.counts().active ?? 0,
    };
  }

  /**
   * Calls `watcher` whenever a message can be received, from within the operation that made it so.
   *
   * @returns ends the watch
   */
  watch(watcher: Watcher): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  onMessageDue(message: StoredMessage, instantUtc: number): void {
    if (message.state === 'locked') this.#endDelivery(message, instantUtc);
    else this.#expire(message);
  }

  #accept(message: StoredMessage): void {
    const { defaultTimeToLiveInMs } = this.settings;
    message.home = this;
    message.timeToLiveInMs = Math.min(message.content.timeToLiveInMs ?? defaultTimeToLiveInMs, defaultTimeToLiveInMs);
    message.expiresUtc = message.enqueuedUtc + message.timeToLiveInMs;
    this.#append(message);
  }

  /** Takes in a message that left another queue, as it is: number, enqueue time and delivery count stay. */
  #adopt(from: StoredMessage): void {
    const message = new StoredMessage(this, from.content, from.sequenceNumber, from.enqueuedUtc);
    message.enqueueSequenceNumber = from.enqueueSequenceNumber;
    message.scheduledUtc = from.scheduledUtc;
    message.timeToLiveInMs = from.timeToLiveInMs;
    message.deliveryCount = from.deliveryCount;
    message.properties = from.properties;
    this.#append(message);
  }

  #append(message: StoredMessage): void {
    message.position = ++this.#lastPosition;
    message.state = 'active';
    this.#messages.set(message.sequenceNumber, message);
    this.#engine.timers.set(message, message.expiresUtc);
    const session = this.#sessionFor(message);
    (session?.lane ?? this.#lane).append(message);
    this.#announce(session);
  }

  #handOver(message: StoredMessage, mode: ReceiveMode, nowUtc: number, session: Session | undefined): Delivery {
    const { deliveryCount } = message;
    if (mode === 'receiveAndDelete') {
      message.state = 'locked';
      this.#remove(message);
      return { message, lockToken: undefined, lockedUntilUtc: 0, deliveryCount };
    }
    const lockToken = this.#engine.newLockToken();
    message.state = 'locked';
    message.lockToken = lockToken;
    this.#locked.set(lockToken, message);
    if (session?.hold === undefined) {
      message.lockedUntilUtc = nowUtc + this.settings.lockDurationInMs;
      this.#engine.timers.set(message, message.lockedUntilUtc);
    } else {
      message.lockedUntilUtc = session.hold.lockedUntilUtc;
      this.#engine.timers.cancel(message);
      session.held.add(message);
    }
    return { message, lockToken, lockedUntilUtc: message.lockedUntilUtc, deliveryCount };
  }

  /** A delivery has failed: abandoned, or its lock has ended. */
  #endDelivery(message: StoredMessage, instantUtc: number): void {
    message.deliveryCount++;
    const { maxDeliveryCount } = this.settings;
    if (message.deliveryCount < maxDeliveryCount) this.#putBack(message, instantUtc);
    else this.#deadLetter(message, maxDeliveryCountExceeded(maxDeliveryCount));
  }

  /** Expiry leaves a locked message alone and applies here, when the lock ends. */
  #putBack(message: StoredMessage, instantUtc: number): void {
    if (message.expiresUtc <= instantUtc) {
      this.#expire(message);
      return;
    }
    const session = this.#unlock(message);
    this.#engine.timers.set(message, message.expiresUtc);
    if (message.isDeferred) {
      message.state = 'deferred';
      this.#deferred++;
      if (session !== undefined) this.sessions?.refresh(session);
    } else {
      message.state = 'active';
      (session?.lane ?? this.#lane).giveBack(message);
      this.#announce(session);
    }
  }

  #announce(session: Session | undefined): void {
    for (const watcher of this.#watchers) watcher(session?.id);
    if (session !== undefined) this.sessions?.refresh(session);
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

  /** Takes a message out, wherever it stands. */
  #remove(message: StoredMessage): void {
    const { state } = message;
    const session = this.#unlock(message);
    message.state = 'gone';
    this.#engine.timers.cancel(message);
    this.#messages.delete(message.sequenceNumber);
    if (state === 'deferred') this.#deferred--;
    if (state === 'active') (session?.lane ?? this.#lane).forget();
    if (session !== undefined) this.sessions?.refresh(session);
  }

  #unlock(message: StoredMessage): Session | undefined {
    const session = this.#sessionFor(message);
    if (message.lockToken !== undefined) this.#locked.delete(message.lockToken);
    message.lockToken = undefined;
    session?.held.delete(message);
    return session;
  }

  #sessionOf(hold: SessionHold | undefined): Session | undefined {
    return hold === undefined || hold.isOver ? undefined : this.sessions?.of(hold.sessionId);
  }

  #sessionFor(message: StoredMessage): Session | undefined {
    return this.sessions?.of(message.content.sessionId ?? '');
  }
}
