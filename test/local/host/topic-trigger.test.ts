import { ServiceBusClient } from '@azure/service-bus';
import { afterEach, describe, expect, test } from 'vitest';
import { parseEntities } from '../../../local/broker/entities.ts';
import { type Broker, startBroker } from '../../../local/broker/start-broker.ts';
import { readServiceBusTrigger } from '../../../local/host/service-bus/trigger.ts';
import { type Host, startHost } from '../../../local/host/start-host.ts';
import type { Binding } from '../../../local/host/worker-protocol.ts';
import { takeStock } from '../../helpers/leftovers.ts';
import { aLog, fixtureApp } from './support.ts';

const ENTITIES = JSON.stringify({
  UserConfig: {
    Namespaces: [
      {
        Name: 'sbemulatorns',
        Queues: [],
        Topics: [{ Name: 'orders', Properties: {}, Subscriptions: [{ Name: 'billing', Properties: {}, Rules: [] }] }],
      },
    ],
    Logging: { Type: 'Console' },
  },
});

describe('a topic trigger', () => {
  const log = aLog();
  const nothingIsLeft = takeStock();
  let broker: Broker;
  let host: Host;

  afterEach(async () => {
    await host.stop();
    await broker.stop();
    await nothingIsLeft();
  });

  test('gets what its subscription gets; without sdkBinding, the body alone', async () => {
    broker = await startBroker({ entities: parseEntities(ENTITIES, 'entities.json') });
    const settings = { EVERY: '0 0 0 1 1 *', ServiceBus: broker.connectionString };
    host = await startHost({ appDirectory: fixtureApp('clock'), settings, onLog: log.onLog });
    const client = new ServiceBusClient(broker.connectionString);

    await client.createSender('orders').sendMessages({ body: Buffer.from('an order') });

    await expect.poll(() => log.messages(), { timeout: 10_000 }).toContain('got an order');
    await client.close();
  });
});

describe('the options of a Service Bus trigger', () => {
  const settings = { Bus: 'Endpoint=sb://x', QUEUE: 'orders' };
  const read = (binding: Partial<Binding>) => {
    const whole = { type: 'serviceBusTrigger', connection: 'Bus', ...binding };
    return readServiceBusTrigger({ functionId: 'f', name: 'f', bindings: { input: whole } }, whole, settings);
  };
  const connection = { kind: 'connectionString', connectionString: 'Endpoint=sb://x' };

  test('of a queue, with defaults [W5]', () => {
    expect(read({ queueName: '%QUEUE%' })).toEqual({
      entity: { kind: 'queue', queueName: 'orders' },
      connection,
      autoCompleteMessages: undefined,
      isBatch: false,
      isSessionsEnabled: false,
      isDeferredBinding: false,
      bodyAs: 'string',
    });
  });

  test('of a subscription, in a batch, with the message itself [W4]', () => {
    const properties = { supportsDeferredBinding: 'true' };
    const options = { cardinality: 'many', dataType: 'binary', autoCompleteMessages: false, properties };

    expect(read({ topicName: 'orders', subscriptionName: 'billing', ...options })).toEqual({
      entity: { kind: 'subscription', topicName: 'orders', subscriptionName: 'billing' },
      connection,
      autoCompleteMessages: false,
      isBatch: true,
      isSessionsEnabled: false,
      isDeferredBinding: true,
      bodyAs: 'binary',
    });
  });

  test('that name no entity are refused', () => {
    expect(() => read({ topicName: 'orders' })).toThrow(
      'The trigger of function "f" names no entity. Expected queueName, or topicName and subscriptionName.',
    );
  });
});
