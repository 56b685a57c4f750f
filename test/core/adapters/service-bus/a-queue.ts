import type { ServiceBusClient } from '@azure/service-bus';
import { onTestFinished } from 'vitest';
import { type CopySender, copySender } from '../../../../functions/core/adapters/service-bus/copy-sender.ts';
import { deliveryFromAmqp } from '../../../../functions/core/adapters/service-bus/delivery-from-amqp.ts';
import type { Delivery } from '../../../../functions/core/rules/delivery.ts';
import { deliveredBytes } from '../../../../local/broker/amqp/codec/delivered-bytes.ts';
import { parseEntities } from '../../../../local/broker/entities.ts';
import type { Queue } from '../../../../local/broker/model/queue.ts';
import type { StoredMessage } from '../../../../local/broker/model/stored-message.ts';
import { type Broker, startBroker } from '../../../../local/broker/start-broker.ts';
import { aClient } from '../../../local/broker/a-broker.ts';

/** 2026-01-05T09:00:00Z: when the broker's clock starts. */
export const START_UTC = 1_767_603_600_000;

const entitiesWith = (properties: object) =>
  parseEntities(
    JSON.stringify({
      UserConfig: {
        Namespaces: [{ Name: 'sbemulatorns', Queues: [{ Name: 'orders', Properties: properties }], Topics: [] }],
        Logging: { Type: 'Console' },
      },
    }),
    'entities.json',
  );

export interface TestQueue {
  readonly broker: Broker;
  readonly queue: Queue;
  readonly client: ServiceBusClient;
  readonly sender: CopySender;
  /** Moves the broker's clock, which stands still otherwise. */
  pass(inMs: number): void;
  /** What the queue holds, as the sender's bytes. */
  stored(): Buffer[];
  /** Hands the next message over as the Functions host does, and completes it at the broker. */
  take(): Delivery;
}

/** The broker with the queue `orders` on a clock of its own, and the sender of copies to it, both until the test ends. */
export async function aQueue(properties: object = {}): Promise<TestQueue> {
  let nowUtc = START_UTC;
  const broker = await startBroker({ entities: entitiesWith(properties), clock: { now: () => nowUtc } });
  const client = aClient(broker.connectionString);
  onTestFinished(async () => {
    await client.close();
    await broker.stop();
  });
  const queue = broker.namespace.queue('orders');
  return {
    broker,
    queue,
    client,
    sender: copySender(client, 'orders'),
    pass(inMs) {
      nowUtc += inMs;
      broker.namespace.advance();
    },
    stored: () => queue.peek(0, 1_000).map(({ content }) => Buffer.from(content.bytes)),
    take() {
      const taken = queue.receive();
      if (!taken?.lockToken) throw new Error('the queue has no message to hand over');
      const { message, lockToken, lockedUntilUtc, deliveryCount } = taken;
      const raw = asTheHostHandsOver(message, deliveryCount, lockedUntilUtc);
      queue.settle(lockToken, { kind: 'complete' });
      return deliveryFromAmqp({ lockToken, raw }, 'orders');
    },
  };
}

/** The host counts deliveries from 1, the wire from 0. */
const asTheHostHandsOver = (message: StoredMessage, deliveryCount: number, lockedUntilUtc: number): Buffer =>
  deliveredBytes(message, { deliveryCount: deliveryCount + 1, lockedUntilUtc });
