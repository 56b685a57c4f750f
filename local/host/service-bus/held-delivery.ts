import type { DeadLetterOptions, ServiceBusReceivedMessage, ServiceBusReceiver } from '@azure/service-bus';
import type { HeldMessage, ModifiedProperties } from '../settlement/held-messages.ts';

/** One received message while its invocation runs: settled at most once, and it remembers whether it was. */
export class HeldDelivery implements HeldMessage {
  readonly message: ServiceBusReceivedMessage;
  readonly #receiver: ServiceBusReceiver;
  #settled = false;

  constructor(message: ServiceBusReceivedMessage, receiver: ServiceBusReceiver) {
    this.message = message;
    this.#receiver = receiver;
  }

  get lockToken(): string {
    return this.message.lockToken ?? '';
  }

  /** How log lines name it. */
  toString(): string {
    return `message ${JSON.stringify(this.message.messageId)} (sequence number ${this.message.sequenceNumber})`;
  }

  /** True once the broker has confirmed a settlement, never before. */
  get settled(): boolean {
    return this.#settled;
  }

  complete(): Promise<void> {
    return this.#settle(() => this.#receiver.completeMessage(this.message));
  }

  abandon(properties?: ModifiedProperties): Promise<void> {
    return this.#settle(() => this.#receiver.abandonMessage(this.message, properties as SdkProperties | undefined));
  }

  defer(properties?: ModifiedProperties): Promise<void> {
    return this.#settle(() => this.#receiver.deferMessage(this.message, properties as SdkProperties | undefined));
  }

  deadLetter(reason?: string, description?: string, properties?: ModifiedProperties): Promise<void> {
    const options = {
      ...(properties as SdkProperties | undefined),
      ...(reason === undefined ? {} : { deadLetterReason: reason }),
      ...(description === undefined ? {} : { deadLetterErrorDescription: description }),
    };
    return this.#settle(() =>
      this.#receiver.deadLetterMessage(this.message, options as DeadLetterOptions & SdkProperties),
    );
  }

  async renewLock(): Promise<void> {
    await this.renewLockUntil();
  }

  /** Renews the lock and gives its new end. */
  renewLockUntil(): Promise<Date> {
    return this.#receiver.renewMessageLock(this.message).catch(throwLast);
  }

  /**
   * Gives up a delivery that will never be settled. rhea keeps unsettled deliveries in a ring that is emptied from its
   * oldest on, so that one left to its lock would block the link after 2048 more.
   */
  leave(): void {
    const { delivery } = this.message as { delivery?: { settled: boolean } };
    if (delivery) delivery.settled = true;
  }

  /**
   * Over a connection that is gone the SDK waits a minute for an answer. A delivery without a link it settles by its lock
   * token instead, as the client of .NET does by itself; of a session it knows that the lock went with the link.
   */
  #leaveDeadConnection(): void {
    const { delivery, sessionId } = this.message as {
      delivery?: { link?: { connection: { is_open(): boolean } } | undefined };
      sessionId?: string;
    };
    if (sessionId === undefined && delivery?.link && !delivery.link.connection.is_open()) delivery.link = undefined;
  }

  async #settle(act: () => Promise<void>): Promise<void> {
    // The SDK refuses a second settlement by itself; .NET asks the broker, which no longer knows the lock.
    if (this.#settled) {
      throw Object.assign(new Error('The lock supplied is invalid: the message has been settled.'), {
        code: 'MessageLockLost',
      });
    }
    this.#leaveDeadConnection();
    await act().catch(throwLast);
    this.#settled = true;
  }
}

/** The SDK's type knows plain values only; rhea, beneath it, takes typed ones and keeps them as they are. */
type SdkProperties = Record<string, string | number | boolean | Date | null>;

/** Of several tries the SDK throws all errors together, without a code or a word; the client of .NET throws the last. */
export function throwLast(error: unknown): never {
  throw error instanceof AggregateError ? error.errors.at(-1) : error;
}
