import { ServiceBusClient } from '@azure/service-bus';
import { afterEach, expect, test } from 'vitest';
import { defaultQueueSettings } from '../../../local/broker/model/queue-settings.ts';
import { type Broker, startBroker } from '../../../local/broker/start-broker.ts';
import { isDisabled } from '../../../local/host/disabled.ts';
import { type Host, startHost } from '../../../local/host/start-host.ts';
import { takeStock } from '../../helpers/leftovers.ts';
import { aLog, fixtureApp } from './support.ts';

const nothingIsLeft = takeStock();
let host: Host | undefined;
let client: ServiceBusClient | undefined;
let broker: Broker | undefined;

afterEach(async () => {
  await host?.stop();
  await client?.close();
  await broker?.stop();
  await nothingIsLeft();
});

test.each([
  ['AzureWebJobs.order-placed.Disabled', 'true', true],
  ['AzureWebJobs__order-placed__Disabled', '1', true],
  ['azurewebjobs.Order-Placed.disabled', 'TRUE', true],
  ['AzureWebJobs.order-placed.Disabled', 'false', false],
  ['AzureWebJobs.order-placed.Disabled', '0', false],
  ['AzureWebJobs.order-placed.Disabled', '', false],
  ['AzureWebJobs.order.Disabled', 'true', false],
])('whether a function is disabled is up to its setting: %s=%s', (name, value, expected) => {
  expect(isDisabled('order-placed', { [name]: value })).toBe(expected);
});

test('a disabled function is listed, its messages stay as they are, and the other functions run [W9]', async () => {
  const log = aLog();
  const queues = new Map(['off', 'on'].map((name) => [name, defaultQueueSettings]));
  broker = await startBroker({ entities: { queues } as never });
  client = new ServiceBusClient(broker.connectionString);
  const send = (queue: string) => client?.createSender(queue).sendMessages({ body: 'x' });
  await send('off');
  host = await startHost({
    appDirectory: fixtureApp('two-queues'),
    settings: { ServiceBus: broker.connectionString, 'AzureWebJobs.off.Disabled': 'true' },
    onLog: log.onLog,
  });

  await send('on');
  await expect.poll(() => log.messages(), { timeout: 10_000 }).toContain('on got x');

  expect(host.functions).toEqual(['off', 'on']);
  expect(log.messages()).toContain('Function "off" is disabled by its setting: its trigger does not listen.');
  expect(log.messages()).not.toContain('off got x');
  const [waiting] = await client.createReceiver('off').peekMessages(1);
  expect([waiting?.body, waiting?.deliveryCount, waiting?.state]).toEqual(['x', 0, 'active']);
});
