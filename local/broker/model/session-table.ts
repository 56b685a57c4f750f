import type { Engine } from './engine.ts';
import { Lane } from './lane.ts';
import { Line } from './line.ts';
import type { RenewResult } from './outcomes.ts';
import type { StoredMessage } from './stored-message.ts';
import type { TimerNode } from './timer-heap.ts';

/** A receiver's lock on a session, from its acceptance until it is released or has ended. */
export class SessionHold {
  readonly sessionId: string;
  /** End of the lock in epoch milliseconds. Only the table writes it. */
  lockedUntilUtc: number;
  /** Whether the lock has ended or was given back. Only the table writes it. */
  isOver = false;
  /** Called when the lock ends by itself, from within the operation that noticed it. */
  onLost: () => void = () => {};

  constructor(sessionId: string, lockedUntilUtc: number) {
    this.sessionId = sessionId;
    this.lockedUntilUtc = lockedUntilUtc;
  }
}

/** What happens to the messages of a session whose lock is over. */
export type SessionRules = {
  readonly lockDurationInMs: () => number;
  /** The lock has ended by itself: the deliveries count. */
  endDelivery(message: StoredMessage, instantUtc: number): void;
  /** The lock was given back: the deliveries do not count. */
  giveBack(message: StoredMessage): void;
};

type LockEnded = (session: Session, instantUtc: number) => void;

/** Messages that belong together, handed over in order and to one receiver at a time. It is the timer of its own lock. */
export class Session implements TimerNode {
  dueUtc = Number.POSITIVE_INFINITY;
  heapOrder = 0;
  heapIndex = -1;

  readonly id: string;
  readonly lane = new Lane();
  /** Messages locked under the session's lock. */
  readonly held = new Set<StoredMessage>();
  hold: SessionHold | undefined;
  state: Uint8Array | undefined;
  stateSetUtc = Number.NEGATIVE_INFINITY;
  readonly #onLockEnded: LockEnded;

  constructor(id: string, onLockEnded: LockEnded) {
    this.id = id;
    this.#onLockEnded = onLockEnded;
  }

  onDue(instantUtc: number): void {
    this.#onLockEnded(this, instantUtc);
  }
}

/** The sessions of a queue. */
export class SessionTable {
  readonly #engine: Engine;
  readonly #rules: SessionRules;
  readonly #sessions = new Map<string, Session>();
  /** Sessions with something to receive that nobody holds, the one that has waited longest first. */
  readonly #ready = new Line<Session>();
  readonly #watchers = new Set<() => void>();
  /** A session whose messages are on their way back. Nobody may take it before all of them are. */
  #unwinding: Session | undefined;

  constructor(engine: Engine, rules: SessionRules) {
    this.#engine = engine;
    this.#rules = rules;
  }

  /** The session of that id, which begins to exist here when it did not. */
  of(id: string): Session {
    const session = this.#sessions.get(id) ?? new Session(id, (ended, instantUtc) => this.#endLock(ended, instantUtc));
    this.#sessions.set(id, session);
    return session;
  }

  /** Locks a session, which need not have messages; `undefined` while another receiver holds it. */
  accept(id: string): SessionHold | undefined {
    const nowUtc = this.#engine.catchUp();
    const session = this.of(id);
    return session.hold === undefined ? this.#lock(session, nowUtc) : undefined;
  }

  /** Locks the next session with something to receive that nobody holds; `undefined` when there is none. */
  acceptNext(): SessionHold | undefined {
    const nowUtc = this.#engine.catchUp();
    const session = this.#ready.first();
    return session === undefined ? undefined : this.#lock(session, nowUtc);
  }

  /** Extends the lock to a whole lock duration from now. */
  renew(hold: SessionHold): RenewResult {
    const nowUtc = this.#engine.catchUp();
    if (hold.isOver) return { kind: 'lockLost' };
    const session = this.of(hold.sessionId);
    hold.lockedUntilUtc = nowUtc + this.#rules.lockDurationInMs();
    this.#engine.timers.set(session, hold.lockedUntilUtc);
    return { kind: 'renewed', lockedUntilUtc: hold.lockedUntilUtc };
  }

  /** Gives the session back; its unsettled messages can be received again and the deliveries do not count. */
  release(hold: SessionHold): void {
    this.#engine.catchUp();
    if (hold.isOver) return;
    this.#unwind(this.of(hold.sessionId), (message) => this.#rules.giveBack(message));
  }

  /** The bytes that receivers of the session have left for one another; `undefined` for none, or when the lock is over. */
  stateOf(hold: SessionHold): Uint8Array | undefined {
    this.#engine.catchUp();
    return hold.isOver ? undefined : this.of(hold.sessionId).state;
  }

  /** Keeps `state` with the session, or nothing; `false` when the lock is over and nothing was changed. */
  setState(hold: SessionHold, state: Uint8Array | undefined): boolean {
    const nowUtc = this.#engine.catchUp();
    if (hold.isOver) return false;
    const session = this.of(hold.sessionId);
    session.state = state;
    session.stateSetUtc = nowUtc;
    return true;
  }

  /** Ids of sessions whose state was set after `sinceUtc`; with `Infinity`, of those that have messages to receive. */
  ids(sinceUtc: number): string[] {
    this.#engine.catchUp();
    const hasMessages = ({ lane, held }: Session) => lane.size + held.size > 0;
    const isWanted =
      sinceUtc === Number.POSITIVE_INFINITY ? hasMessages : ({ stateSetUtc }: Session) => stateSetUtc > sinceUtc;
    return [...this.#sessions.values()].filter(isWanted).map(({ id }) => id);
  }

  /**
   * Calls `watcher` whenever a session becomes ready for {@link SessionTable.acceptNext}.
   *
   * @returns ends the watch
   */
  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** Must follow every change to a session's lane, held messages or lock. */
  refresh(session: Session): void {
    if (session === this.#unwinding) return;
    const isReady = session.hold === undefined && session.lane.size > 0;
    if (isReady === this.#ready.has(session)) {
      this.#forgetIfEmpty(session);
    } else if (isReady) {
      this.#ready.add(session);
      for (const watcher of this.#watchers) watcher();
    } else {
      this.#ready.delete(session);
      this.#forgetIfEmpty(session);
    }
  }

  #lock(session: Session, nowUtc: number): SessionHold {
    const hold = new SessionHold(session.id, nowUtc + this.#rules.lockDurationInMs());
    session.hold = hold;
    this.#engine.timers.set(session, hold.lockedUntilUtc);
    this.refresh(session);
    return hold;
  }

  #unwind(session: Session, putBack: (message: StoredMessage) => void): void {
    this.#engine.timers.cancel(session);
    if (session.hold !== undefined) session.hold.isOver = true;
    session.hold = undefined;
    this.#unwinding = session;
    for (const message of [...session.held]) putBack(message);
    this.#unwinding = undefined;
    this.refresh(session);
  }

  #endLock(session: Session, instantUtc: number): void {
    const { hold } = session;
    this.#unwind(session, (message) => this.#rules.endDelivery(message, instantUtc));
    hold?.onLost();
  }

  #forgetIfEmpty(session: Session): void {
    const isEmpty = session.lane.size === 0 && session.held.size === 0;
    if (isEmpty && session.hold === undefined && session.state === undefined) this.#sessions.delete(session.id);
  }
}
