import { ServiceBusClient, type ServiceBusMessage, type ServiceBusReceivedMessage } from '@azure/service-bus';
import { expect } from 'vitest';
import { defaultQueueSettings, type QueueSettings } from '../../../local/broker/model/queue-settings.ts';
import { type Broker, startBroker } from '../../../local/broker/start-broker.ts';
import { type Host, startHost } from '../../../local/host/start-host.ts';
import { takeStock } from '../../helpers/leftovers.ts';
import { aLog, fixtureApp } from './support.ts';

/** What the fixture app tells about one message; see `test/fixtures/apps/queue`. */
export interface Told {
  readonly id: string;
  readonly [fact: string]: unknown;
}

/** A broker with one queue `q`, a host with the fixture app on it, and a client beside them. */
export interface QueueStage {
  readonly broker: Broker;
  /** Cuts every connection and starts an empty broker on the same port. */
  replaceBroker(): Promise<void>;
  readonly host: Host;
  readonly log: ReturnType<typeof aLog>;
  /** Sends one message whose body tells the app what to do. */
  send(messageId: string, steps: unknown, more?: Partial<ServiceBusMessage>): Promise<void>;
  sendRaw(message: Parameters<ReturnType<ServiceBusClient['createSender']>['sendMessages']>[0]): Promise<void>;
  /** Everything the app has told so far, in order. */
  told(messageId?: string): Told[];
  /** Resolves when the app has told this. */
  until(messageId: string, fact: Record<string, unknown>): Promise<void>;
  /** Resolves when the queue is empty and no invocation runs: everything the app tells has been told. */
  quiet(): Promise<void>;
  /** What is in the queue, and in its dead-letter queue, without taking it. */
  peek(path?: string): Promise<ServiceBusReceivedMessage[]>;
  stop(): Promise<void>;
}

const AT_MOST = { timeout: 15_000, interval: 20 };

/** Its `stop` also waits until no process and no socket of it is left, and fails where one is. */
export async function aQueueStage(
  options: {
    app?: string;
    queue?: Partial<QueueSettings>;
    settings?: Record<string, string>;
    drainLimitInMs?: number;
    /** Sent before the host starts, so that it finds them together. */
    waiting?: readonly ServiceBusMessage[];
  } = {},
): Promise<QueueStage> {
  const nothingIsLeft = takeStock();
  const queues = new Map([['q', { ...defaultQueueSettings, maxDeliveryCount: 10, ...options.queue }]]);
  const entities = { queues } as never;
  let broker = await startBroker({ entities });
  const client = new ServiceBusClient(broker.connectionString, { retryOptions: { maxRetries: 0, timeoutInMs: 5_000 } });
  const sender = client.createSender('q');
  if (options.waiting) await sender.sendMessages([...options.waiting]);
  const log = aLog();
  const host = await startHost({
    appDirectory: fixtureApp(options.app ?? 'queue'),
    settings: { QUEUE: 'q', ServiceBus: broker.connectionString, ...options.settings },
    onLog: log.onLog,
    ...(options.drainLimitInMs === undefined ? {} : { drainLimitInMs: options.drainLimitInMs }),
  });
  const peek = async (path = 'q') => {
    // A client goes on where its last peek ended, so each one gets its own.
    const peeker = new ServiceBusClient(broker.connectionString);
    const messages = await peeker.createReceiver(path).peekMessages(100);
    await peeker.close();
    return messages;
  };
  const told = (messageId?: string) =>
    log.entries
      .filter(({ category }) => /^Function\.\w+\.User$/.test(category))
      .map(({ message }) => JSON.parse(message) as Told)
      .filter(({ id }) => messageId === undefined || id === messageId);
  return {
    get broker() {
      return broker;
    },
    replaceBroker: async () => {
      const { port } = broker;
      await broker.stop();
      broker = await startBroker({ entities, port });
    },
    host,
    log,
    told,
    send: (messageId, steps, more = {}) =>
      sender.sendMessages({ messageId, body: Buffer.from(JSON.stringify(steps)), ...more } as ServiceBusMessage),
    sendRaw: (message) => sender.sendMessages(message),
    until: (messageId, fact) =>
      expect.poll(() => told(messageId), AT_MOST).toContainEqual(expect.objectContaining({ ...fact, id: messageId })),
    peek,
    quiet: () =>
      expect
        .poll(() => {
          const running =
            log.messages().filter((line) => line.startsWith('Executing ')).length -
            log.messages().filter((line) => line.startsWith('Executed ')).length;
          return [broker.namespace.queue('q').peek(0, 1).length, running];
        }, AT_MOST)
        .toEqual([0, 0]),
    stop: async () => {
      await host.stop();
      await client.close();
      await broker.stop();
      await nothingIsLeft();
    },
  };
}
