import type { Engine } from './engine.ts';
import { Lane } from './lane.ts';
import type { ReceiveMode } from './outcomes.ts';
import type { Session, SessionHold, SessionTable } from './session-table.ts';
import type { StoredMessage } from './stored-message.ts';

/** Called when a message can be received; with the session it belongs to, on an entity that has sessions. */
export type Watcher = (sessionId: string | undefined) => void;

/**
 * Where the messages of a queue are: each in exactly one place, waiting in a lane, locked, or deferred. It moves them and
 * sets their timers; when and why is the queue's affair.
 */
export class MessageStore {
  readonly watchers = new Set<Watcher>();
  readonly #engine: Engine;
  readonly #lockDurationInMs: () => number;
  /** The sessions of an entity that requires them. */
  readonly #sessions: SessionTable | undefined;
  readonly #messages = new Map<number, StoredMessage>();
  readonly #locked = new Map<string, StoredMessage>();
  readonly #lane = new Lane();
  #lastPosition = 0;
  #deferred = 0;
  #sizeInBytes = 0;

  constructor(engine: Engine, lockDurationInMs: () => number, sessions: SessionTable | undefined) {
    this.#engine = engine;
    this.#lockDurationInMs = lockDurationInMs;
    this.#sessions = sessions;
  }

  get size(): number {
    return this.#messages.size;
  }

  get deferredCount(): number {
    return this.#deferred;
  }

  /** Bytes of all messages as their senders gave them. */
  get sizeInBytes(): number {
    return this.#sizeInBytes;
  }

  all(): Iterable<StoredMessage> {
    return this.#messages.values();
  }

  get(sequenceNumber: number): StoredMessage | undefined {
    return this.#messages.get(sequenceNumber);
  }

  byLockToken(lockToken: string): StoredMessage | undefined {
    return this.#locked.get(lockToken);
  }

  /** Adds a message behind all others. */
  append(message: StoredMessage): void {
    message.position = ++this.#lastPosition;
    message.state = 'active';
    this.#messages.set(message.sequenceNumber, message);
    this.#sizeInBytes += message.content.bytes.length;
    this.#engine.timers.set(message, message.expiresUtc);
    const session = this.#sessionFor(message);
    (session?.lane ?? this.#lane).append(message);
    this.#announce(session);
  }

  /** Takes the next message out for a receiver; of the held session, on an entity that has sessions. */
  takeNext(mode: ReceiveMode, nowUtc: number, hold: SessionHold | undefined): StoredMessage | undefined {
    const session = this.#sessionOf(hold);
    if (session === undefined && this.#sessions !== undefined) return undefined;
    const message = (session?.lane ?? this.#lane).take();
    if (message === undefined) return undefined;
    this.#takeOut(message, mode, nowUtc, session);
    if (session !== undefined) this.#sessions?.refresh(session);
    return message;
  }

  /** Takes a deferred message out for a receiver. */
  takeDeferred(message: StoredMessage, mode: ReceiveMode, nowUtc: number, hold: SessionHold | undefined): void {
    this.#deferred--;
    this.#takeOut(message, mode, nowUtc, this.#sessionOf(hold));
  }

  /** Extends the lock of a message to a whole lock duration from now. */
  extendLock(message: StoredMessage, nowUtc: number): void {
    message.lockedUntilUtc = nowUtc + this.#lockDurationInMs();
    this.#engine.timers.set(message, message.lockedUntilUtc);
  }

  /**
   * Puts a locked message back to its place, or among the deferred ones if it was deferred. Expiry leaves a locked message
   * alone: one that has expired meanwhile falls due here, at once.
   */
  putBack(message: StoredMessage): void {
    const session = this.#unlock(message);
    this.#engine.timers.set(message, message.expiresUtc);
    if (message.isDeferred) {
      message.state = 'deferred';
      this.#deferred++;
      if (session !== undefined) this.#sessions?.refresh(session);
    } else {
      message.state = 'active';
      (session?.lane ?? this.#lane).giveBack(message);
      this.#announce(session);
    }
  }

  /** Takes a message out for good, wherever it stands. */
  remove(message: StoredMessage): void {
    const { state } = message;
    const session = this.#unlock(message);
    message.state = 'gone';
    this.#engine.timers.cancel(message);
    this.#messages.delete(message.sequenceNumber);
    this.#sizeInBytes -= message.content.bytes.length;
    if (state === 'deferred') this.#deferred--;
    if (state === 'active') (session?.lane ?? this.#lane).forget();
    if (session !== undefined) this.#sessions?.refresh(session);
  }

  /** Takes every message out for good. */
  clear(): void {
    for (const message of [...this.#messages.values()]) this.remove(message);
  }

  /** Tells the watchers of everything that can be received. */
  announceAll(): void {
    const sessionIds = new Set([...this.#messages.values()].map(({ content }) => content.sessionId ?? ''));
    if (this.#sessions === undefined) this.#announce(undefined);
    else for (const id of sessionIds) this.#announce(this.#sessions.of(id));
  }

  #takeOut(message: StoredMessage, mode: ReceiveMode, nowUtc: number, session: Session | undefined): void {
    message.state = 'locked';
    if (mode === 'receiveAndDelete') {
      this.remove(message);
      return;
    }
    message.lockToken = this.#engine.newLockToken();
    this.#locked.set(message.lockToken, message);
    if (session?.hold === undefined) {
      this.extendLock(message, nowUtc);
    } else {
      message.lockedUntilUtc = session.hold.lockedUntilUtc;
      this.#engine.timers.cancel(message);
      session.held.add(message);
    }
  }

  #unlock(message: StoredMessage): Session | undefined {
    const session = this.#sessionFor(message);
    if (message.lockToken !== undefined) this.#locked.delete(message.lockToken);
    message.lockToken = undefined;
    session?.held.delete(message);
    return session;
  }

  #announce(session: Session | undefined): void {
    for (const watcher of this.watchers) watcher(session?.id);
    if (session !== undefined) this.#sessions?.refresh(session);
  }

  #sessionOf(hold: SessionHold | undefined): Session | undefined {
    return hold === undefined || hold.isOver ? undefined : this.#sessions?.of(hold.sessionId);
  }

  #sessionFor(message: StoredMessage): Session | undefined {
    return this.#sessions?.of(message.content.sessionId ?? '');
  }
}
