import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceBusClient } from '@azure/service-bus';
import { expect, onTestFinished, test, vi } from 'vitest';
import { defaultQueueSettings } from '../../../local/broker/model/queue-settings.ts';
import { type Broker, startBroker } from '../../../local/broker/start-broker.ts';
import { aReceiver, codeOf, QUEUE, receiveOne } from './a-broker.ts';

type Stage = {
  readonly broker: Broker;
  readonly client: ServiceBusClient;
  /** Sends a request to the fault controls and gives the status and the body of the answer. */
  fault(method: string, path: string, body?: object): Promise<[number, unknown]>;
};

async function aStage(maxRetries = 0): Promise<Stage> {
  const broker = await startBroker({ entities: { queues: new Map([[QUEUE, defaultQueueSettings]]) }, faultPort: 0 });
  const retryOptions = { maxRetries, timeoutInMs: 1000, retryDelayInMs: 10 };
  const client = new ServiceBusClient(broker.connectionString, { retryOptions });
  onTestFinished(async () => {
    await client.close();
    await broker.stop();
  });
  const fault = async (method: string, path: string, body?: object): Promise<[number, unknown]> => {
    const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
    const response = await fetch(`http://127.0.0.1:${broker.faultPort}${path}`, init);
    const text = await response.text();
    return [response.status, text === '' ? undefined : JSON.parse(text)];
  };
  return { broker, client, fault };
}

test('serves no fault controls unless asked', async () => {
  const broker = await startBroker({ entities: { queues: new Map() } });
  onTestFinished(() => broker.stop());
  expect(broker.faultPort).toBeUndefined();
});

test('carries a send out and drops its reply, once', async () => {
  const { broker, client, fault } = await aStage();
  const sender = client.createSender(QUEUE);
  await sender.sendMessages({ body: 0 });
  expect(await fault('POST', '/replies/drop', { to: 'send' })).toEqual([204, undefined]);
  expect(await codeOf(sender.sendMessages({ body: 1 }))).toBe('ServiceTimeout');
  expect(await codeOf(sender.sendMessages({ body: 2 }))).toBe('no error');
  expect(broker.namespace.queue(QUEUE).counts().active).toBe(3);
});

test('carries a schedule out and drops its reply, so that a client that tries again schedules twice', async () => {
  const { broker, client, fault } = await aStage(1);
  const sender = client.createSender(QUEUE);
  await fault('POST', '/replies/drop', { to: 'schedule', count: 1 });
  await sender.scheduleMessages({ body: 1 }, new Date(Date.now() + 60_000));
  expect(broker.namespace.queue(QUEUE).counts().scheduled).toBe(2);
});

test('carries a settlement out and drops its reply', async () => {
  const { broker, client, fault } = await aStage();
  await client.createSender(QUEUE).sendMessages({ body: 1 });
  const receiver = aReceiver(client);
  const message = await receiveOne(receiver);
  await fault('POST', '/replies/drop', { to: 'settlement' });
  expect(await codeOf(receiver.completeMessage(message))).toBe('ServiceTimeout');
  expect(broker.namespace.queue(QUEUE).counts().active).toBe(0);
});

test('holds replies back for as long as it is told', async () => {
  const { broker, client, fault } = await aStage();
  const sender = client.createSender(QUEUE);
  await sender.sendMessages({ body: 0 });
  await fault('POST', '/replies/delay', { inMs: 300 });
  const startMs = performance.now();
  let isAnswered = false;
  const sent = sender.sendMessages({ body: 1 }).then(() => {
    isAnswered = true;
  });
  await vi.waitFor(() => expect(broker.namespace.queue(QUEUE).counts().active).toBe(2));
  expect(isAnswered).toBe(false);
  await sent;
  expect(performance.now() - startMs).toBeGreaterThanOrEqual(290);
});

test.each([
  ['Unauthorized', 'UnauthorizedAccess'],
  ['ServerBusy', 'ServiceBusy'],
])('refuses sends and schedules as %s, as many as it is told', async (as, code) => {
  const { broker, client, fault } = await aStage();
  const sender = client.createSender(QUEUE);
  await fault('POST', '/sends/refuse', { as, count: 2 });
  expect(await codeOf(sender.sendMessages({ body: 1 }))).toBe(code);
  expect(await codeOf(sender.scheduleMessages({ body: 1 }, new Date(Date.now() + 60_000)))).toBe(code);
  expect(await codeOf(sender.sendMessages({ body: 1 }))).toBe('no error');
  expect(broker.namespace.queue(QUEUE).counts()).toMatchObject({ active: 1, scheduled: 0 });
});

test('drops connections, and clients come back', async () => {
  const { broker, client, fault } = await aStage(3);
  const sender = client.createSender(QUEUE);
  await sender.sendMessages({ body: 1 });
  await fault('POST', '/connections/drop');
  expect(await codeOf(sender.sendMessages({ body: 2 }))).toBe('no error');
  expect(broker.namespace.queue(QUEUE).counts().active).toBe(2);
});

test('stops and starts again with what it had, locks included', async () => {
  const { broker, client, fault } = await aStage(10);
  const sender = client.createSender(QUEUE);
  await sender.sendMessages([{ body: 'locked' }, { body: 'waiting' }]);
  await receiveOne(aReceiver(client));
  await fault('POST', '/stop');
  await expect(fetch(`http://127.0.0.1:${broker.port}`)).rejects.toThrow();
  await fault('POST', '/start');
  expect(broker.namespace.queue(QUEUE).counts().active).toBe(2);
  const again = new ServiceBusClient(broker.connectionString);
  onTestFinished(() => again.close());
  expect((await receiveOne(aReceiver(again))).body).toBe('waiting');
});

test('says what is set, and clears it', async () => {
  const { fault } = await aStage();
  await fault('POST', '/replies/drop', { to: 'request', count: 3 });
  await fault('POST', '/sends/refuse', { as: 'ServerBusy', count: 2 });
  await fault('POST', '/replies/delay', { inMs: 5 });
  expect(await fault('GET', '/faults')).toEqual([
    200,
    { dropReplies: { request: 3 }, delayRepliesInMs: 5, refuseSends: { as: 'ServerBusy', count: 2 } },
  ]);
  await fault('DELETE', '/faults');
  expect(await fault('GET', '/faults')).toEqual([200, { dropReplies: {}, delayRepliesInMs: 0 }]);
});

test('refuses sends until told otherwise', async () => {
  const { client, fault } = await aStage();
  const sender = client.createSender(QUEUE);
  await fault('POST', '/sends/refuse', { as: 'Unauthorized', count: 'all' });
  for (let send = 0; send < 3; send++)
    expect(await codeOf(sender.sendMessages({ body: 1 }))).toBe('UnauthorizedAccess');
  await fault('DELETE', '/faults');
  expect(await codeOf(sender.sendMessages({ body: 1 }))).toBe('no error');
});

test('opens no link to send on for want of the right', async () => {
  const { client, fault } = await aStage();
  await fault('POST', '/sends/refuse', { as: 'Unauthorized', count: 'all' });
  expect(await codeOf(client.createSender(QUEUE).createMessageBatch())).toBe('UnauthorizedAccess');
  await fault('POST', '/sends/refuse', { as: 'Unauthorized', count: 3 });
  expect(await codeOf(client.createSender(QUEUE).createMessageBatch())).toBe('no error');
});

test.each([
  ['POST', '/replies/drop', { to: 'everything' }, 400, /to: /],
  ['POST', '/replies/drop', {}, 400, /to: /],
  ['POST', '/replies/delay', { inMs: -1 }, 400, /inMs: /],
  ['POST', '/sends/refuse', { as: 'Unauthorized', count: 0 }, 400, /count: /],
  ['POST', '/sends/refuse', { as: 'Unauthorized', often: 1 }, 400, /often/],
  ['POST', '/nowhere', {}, 404, /There is no POST \/nowhere/],
])('refuses %s %s with %j', async (method, path, body, status, expected) => {
  const { fault } = await aStage();
  expect(await fault(method, path, body)).toEqual([status, { error: expect.stringMatching(expected) }]);
});

test('takes every request that its documentation shows', async () => {
  const { fault } = await aStage();
  const text = await readFile(join(import.meta.dirname, '../../../docs/local-service-bus.md'), 'utf8');
  const requests = [...text.matchAll(/^\| `(GET|POST|DELETE) (\/\S+)` \| (?:`(\{.*\})` )?\|/gm)];
  expect(requests).toHaveLength(8);
  for (const [, method = '', path = '', body] of requests) {
    const [status] = await fault(method, path, body === undefined ? undefined : JSON.parse(body));
    expect([method, path, status]).toEqual([method, path, method === 'GET' ? 200 : 204]);
  }
});
