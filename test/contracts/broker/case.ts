import type {
  ServiceBusClient,
  ServiceBusMessage,
  ServiceBusReceivedMessage,
  ServiceBusReceiver,
  ServiceBusReceiverOptions,
} from '@azure/service-bus';
import type { Feature, TargetRun } from './target.ts';

/** Where a behaviour is written down or was seen. */
export type Source =
  | 'docs: message-transfers-locks-settlement'
  | 'docs: message-expiration'
  | 'docs: message-sequencing'
  | 'docs: message-sessions'
  | 'docs: message-deferral'
  | 'docs: message-browsing'
  | 'docs: duplicate-detection'
  | 'docs: dead-letter-queues'
  | 'docs: auto-forwarding'
  | 'docs: topic-filters'
  | 'docs: sql-filter'
  | 'docs: messages-payloads'
  | 'docs: quotas'
  | 'docs: amqp-request-response'
  | 'docs: exceptions'
  | 'SDK: README'
  | 'AMQP 1.0'
  | 'field: issue threads';

/** One behaviour, checked through the SDK alone. */
export type Case = {
  readonly name: string;
  readonly source: Source;
  readonly needs?: readonly Feature[];
  run(context: CaseContext): Promise<void>;
};

type Receiving = Pick<ServiceBusReceiver, 'receiveMessages' | 'completeMessage'>;

/** What a case works with: the SDK's client, and shorthands for what nearly every case does. */
export class CaseContext {
  readonly client: ServiceBusClient;
  readonly run: TargetRun;
  readonly #received: (() => Promise<void>)[] = [];

  constructor(run: TargetRun) {
    this.client = run.client;
    this.run = run;
  }

  /** Sends messages one by one, in order. */
  async send(entity: string, ...messages: ServiceBusMessage[]): Promise<void> {
    const sender = this.client.createSender(entity);
    for (const message of messages) await sender.sendMessages(message);
    await sender.close();
  }

  /** A receiver that renews no locks by itself. */
  receiver(entity: string, options: ServiceBusReceiverOptions = {}): ServiceBusReceiver {
    return this.client.createReceiver(entity, { maxAutoLockRenewalDurationInMs: 0, ...options });
  }

  deadLetters(entity: string): ServiceBusReceiver {
    return this.receiver(entity, { subQueueType: 'deadLetter' });
  }

  /** The next message, which must come. */
  async one(receiver: Receiving): Promise<ServiceBusReceivedMessage> {
    const [message] = await receiver.receiveMessages(1, { maxWaitTimeInMs: 10_000 });
    if (message === undefined) throw new Error('No message came within 10 s.');
    this.#note(receiver, [message]);
    return message;
  }

  /** Up to `most` messages, as many as come within a moment. */
  async some(receiver: Receiving, most: number): Promise<ServiceBusReceivedMessage[]> {
    const messages: ServiceBusReceivedMessage[] = [];
    for (;;) {
      const more = await receiver.receiveMessages(most - messages.length, {
        maxWaitTimeInMs: messages.length > 0 ? 100 : 300,
      });
      messages.push(...more);
      this.#note(receiver, more);
      if (more.length === 0 || messages.length >= most) return messages;
    }
  }

  /** Completes what was received and is still held, where others would have to wait for the end of its lock. */
  async release(): Promise<void> {
    await Promise.allSettled(this.#received.map((complete) => complete()));
  }

  #note(receiver: Receiving, messages: readonly ServiceBusReceivedMessage[]): void {
    for (const message of messages) this.#received.push(() => receiver.completeMessage(message));
  }

  /** The code of the error with which `work` ends. */
  async codeOf(work: Promise<unknown>): Promise<unknown> {
    return work.then(
      () => 'no error',
      (error: { code?: unknown; message: string }) => error.code ?? error.message,
    );
  }
}

export const bodies = (messages: readonly ServiceBusReceivedMessage[]) => messages.map(({ body }) => body);
