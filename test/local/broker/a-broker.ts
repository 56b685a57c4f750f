import { ServiceBusClient, type ServiceBusReceivedMessage, type ServiceBusReceiver } from '@azure/service-bus';
import { onTestFinished } from 'vitest';
import type { Entities } from '../../../local/broker/entities.ts';
import { defaultQueueSettings, type QueueSettings } from '../../../local/broker/model/queue-settings.ts';
import { type Broker, startBroker } from '../../../local/broker/start-broker.ts';

export const QUEUE = 'orders';

export type TestBroker = {
  readonly broker: Broker;
  readonly client: ServiceBusClient;
  /** Moves the broker's clock ahead, and lets happen what is due. Real time moves it too. */
  pass(inMs: number): void;
};

/** A broker on a free port with one queue, `orders`, and a client of it. Both end with the test. */
export async function aBroker(settings: Partial<QueueSettings> = {}): Promise<TestBroker> {
  return aBrokerOf({ queues: new Map([[QUEUE, { ...defaultQueueSettings, ...settings }]]) });
}

/** A broker on a free port with these entities, and a client of it. Both end with the test. */
export async function aBrokerOf(entities: Entities): Promise<TestBroker> {
  let aheadInMs = 0;
  const broker = await startBroker({ entities, clock: { now: () => Date.now() + aheadInMs } });
  const client = aClient(broker.connectionString);
  onTestFinished(async () => {
    await client.close();
    await broker.stop();
  });
  const pass = (inMs: number) => {
    aheadInMs += inMs;
    broker.namespace.advance();
  };
  return { broker, client, pass };
}

/** A client that gives up at once instead of trying again for minutes. */
export function aClient(connectionString: string): ServiceBusClient {
  return new ServiceBusClient(connectionString, { retryOptions: { maxRetries: 0, timeoutInMs: 5000 } });
}

/** A receiver that renews no locks by itself. */
export function aReceiver(client: ServiceBusClient, options: object = {}): ServiceBusReceiver {
  return client.createReceiver(QUEUE, { maxAutoLockRenewalDurationInMs: 0, ...options });
}

/** Receives one message, which must come. */
export async function receiveOne(receiver: ServiceBusReceiver): Promise<ServiceBusReceivedMessage> {
  const [message] = await receiver.receiveMessages(1, { maxWaitTimeInMs: 5000 });
  if (message === undefined) throw new Error('No message came.');
  return message;
}

/** The code of the error with which `work` ends. */
export async function codeOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'no error',
    (error: { code?: unknown }) => error.code,
  );
}
