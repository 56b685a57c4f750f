/** Properties to merge into a message when it is settled: values as AMQP carries them, with their types. */
export type ModifiedProperties = Readonly<Record<string, unknown>>;

/** What can be done with one message while its invocation runs. Each rejects with the broker's error. */
export interface HeldMessage {
  complete(): Promise<void>;
  abandon(properties?: ModifiedProperties): Promise<void>;
  defer(properties?: ModifiedProperties): Promise<void>;
  deadLetter(reason?: string, description?: string, properties?: ModifiedProperties): Promise<void>;
  renewLock(): Promise<void>;
}

/** What can be done with a session while an invocation with a message of it runs. Each rejects with the broker's error. */
export interface HeldSession {
  /** Extends the lock on the session and gives its new end. */
  renewLock(): Promise<Date>;
  /** The bytes that receivers of the session leave for one another; none where there is no state. */
  state(): Promise<Uint8Array>;
  setState(state: Uint8Array): Promise<void>;
  /** Has the session given back once its invocation has ended, though it may have more messages. */
  release(): void;
}

/**
 * The messages that running invocations may settle, by lock token, and their sessions, by id. The host forgets both with
 * the invocation.
 */
export class HeldMessages {
  readonly #messages = new Map<string, HeldMessage>();
  readonly #sessions = new Map<string, HeldSession>();

  hold(lockToken: string, message: HeldMessage): void {
    this.#messages.set(lockToken, message);
  }

  find(lockToken: string): HeldMessage | undefined {
    return this.#messages.get(lockToken);
  }

  forget(lockToken: string): void {
    this.#messages.delete(lockToken);
  }

  holdSession(sessionId: string, session: HeldSession): void {
    this.#sessions.set(sessionId, session);
  }

  findSession(sessionId: string): HeldSession | undefined {
    return this.#sessions.get(sessionId);
  }

  forgetSession(sessionId: string): void {
    this.#sessions.delete(sessionId);
  }

  get size(): number {
    return this.#messages.size;
  }
}
