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

/** The messages that running invocations may settle, by lock token. The host forgets a token with its invocation. */
export class HeldMessages {
  readonly #messages = new Map<string, HeldMessage>();

  hold(lockToken: string, message: HeldMessage): void {
    this.#messages.set(lockToken, message);
  }

  find(lockToken: string): HeldMessage | undefined {
    return this.#messages.get(lockToken);
  }

  forget(lockToken: string): void {
    this.#messages.delete(lockToken);
  }

  get size(): number {
    return this.#messages.size;
  }
}
