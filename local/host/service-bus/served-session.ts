import type { ServiceBusSessionReceiver } from '@azure/service-bus';
import type { HeldSession } from '../settlement/held-messages.ts';
import { throwLast } from './held-delivery.ts';

/** One session that this host has locked. */
export class ServedSession implements HeldSession {
  readonly receiver: ServiceBusSessionReceiver;
  readonly #over = new AbortController();

  constructor(receiver: ServiceBusSessionReceiver) {
    this.receiver = receiver;
  }

  /** How log lines name it. */
  toString(): string {
    return `session ${JSON.stringify(this.receiver.sessionId)}`;
  }

  /** Fires when no more messages are to be taken: the lock is lost, or the function has released the session. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  async renewLock(): Promise<Date> {
    try {
      return await this.receiver.renewSessionLock().catch(throwLast);
    } catch (error) {
      if ((error as { code?: unknown }).code === 'SessionLockLost') this.#over.abort();
      throw error;
    }
  }

  /** The SDK parses what is JSON; its text may differ from what was set, its value does not. */
  async state(): Promise<Uint8Array> {
    const state: unknown = await this.receiver.getSessionState().catch(throwLast);
    if (state === null || state === undefined) return Buffer.alloc(0);
    return Buffer.isBuffer(state) ? state : Buffer.from(JSON.stringify(state));
  }

  async setState(state: Uint8Array): Promise<void> {
    await this.receiver.setSessionState(Buffer.from(state)).catch(throwLast);
  }

  release(): void {
    this.#over.abort();
  }
}
