import { expect, test } from 'vitest';
import { startAdminServer } from '../../../../local/broker/admin/start-admin-server.ts';
import { codeOf, receiveOne } from '../a-broker.ts';
import { anAdmin } from './an-admin.ts';

test('serves a queue at once that was made a moment ago, and no more when it is removed', async () => {
  const { admin, client } = await anAdmin();
  await admin.createQueue('q');
  await client.createSender('q').sendMessages({ body: 'x' });
  expect((await receiveOne(client.createReceiver('q'))).body).toBe('x');
  await admin.deleteQueue('q');
  expect(await codeOf(client.createSender('q').sendMessages({ body: 'y' }))).toBe('MessagingEntityNotFound');
});

test('detaches a receiver of a queue that is removed', async () => {
  const { admin, client } = await anAdmin();
  await admin.createQueue('q');
  await new Promise<void>((resolve) => {
    client.createReceiver('q').subscribe({
      processMessage: async () => {},
      processError: async ({ error }) => {
        if ('code' in error && error.code === 'MessagingEntityNotFound') resolve();
      },
    });
    client
      .createSender('q')
      .sendMessages({ body: 'x' })
      .then(() => admin.deleteQueue('q'));
  });
});

test('gives the messages of a topic to those subscriptions whose rules select them', async () => {
  const { admin, client } = await anAdmin();
  await admin.createTopic('events');
  await admin.createSubscription('events', 'all');
  const filter = { applicationProperties: { region: 'eu', size: 2 } };
  await admin.createSubscription('events', 'eu', { defaultRuleOptions: { name: 'eu', filter } });
  await client.createSender('events').sendMessages([
    { body: 'us', applicationProperties: { region: 'us', size: 2 } },
    { body: 'eu', applicationProperties: { region: 'eu', size: 2 } },
  ]);
  const counts = [];
  for (const name of ['all', 'eu']) {
    counts.push((await admin.getSubscriptionRuntimeProperties('events', name)).activeMessageCount);
  }
  expect(counts).toEqual([2, 1]);
});

test('refuses sends to a queue whose status says so, until it says otherwise', async () => {
  const { admin, client } = await anAdmin();
  const queue = await admin.createQueue('q', { status: 'SendDisabled' });
  const sender = client.createSender('q');
  expect(await codeOf(sender.sendMessages({ body: 'x' }))).toBe('MessagingEntityDisabled');
  await admin.updateQueue({ ...queue, status: 'Active' });
  await sender.sendMessages({ body: 'x' });
  expect((await receiveOne(client.createReceiver('q'))).body).toBe('x');
});

test('forwards to the entity that was named, which clients do by a whole URL', async () => {
  const { admin, client } = await anAdmin();
  await admin.createQueue('first', { forwardTo: 'orders' });
  await client.createSender('first').sendMessages({ body: 'x' });
  expect((await receiveOne(client.createReceiver('orders'))).body).toBe('x');
});

test('counts messages by where they stand', async () => {
  const { admin, client } = await anAdmin();
  const sender = client.createSender('orders');
  await sender.sendMessages([{ body: 'dead' }, { body: 'held' }, { body: 'waiting' }]);
  await sender.scheduleMessages({ body: 'later' }, new Date(Date.now() + 3_600_000));
  const receiver = client.createReceiver('orders');
  await receiver.deadLetterMessage(await receiveOne(receiver));
  await receiveOne(receiver);
  const { createdAt, modifiedAt, accessedAt, sizeInBytes, ...counts } = await admin.getQueueRuntimeProperties('orders');
  expect(counts).toEqual({
    name: 'orders',
    totalMessageCount: 4,
    activeMessageCount: 2,
    deadLetterMessageCount: 1,
    scheduledMessageCount: 1,
    transferMessageCount: 0,
    transferDeadLetterMessageCount: 0,
  });
  expect(sizeInBytes).toBeGreaterThan(0);
  expect([createdAt, modifiedAt, accessedAt]).toEqual([createdAt, createdAt, createdAt]);
});

test('drops everything that a queue or a subscription holds, for who asks as other emulators are asked', async () => {
  const { admin, client, broker, port } = await anAdmin();
  await admin.createTopic('events');
  await admin.createSubscription('events', 'all');
  const sender = client.createSender('orders');
  await sender.sendMessages([{ body: 'dead' }, { body: 'waiting' }]);
  await sender.scheduleMessages({ body: 'later' }, new Date(Date.now() + 3_600_000));
  const receiver = client.createReceiver('orders');
  await receiver.deadLetterMessage(await receiveOne(receiver));
  await client.createSender('events').sendMessages({ body: 'x' });
  const purge = async (path: string) => {
    const response = await fetch(`http://localhost:${port}/${path}/messages`, { method: 'DELETE' });
    return [response.status, response.ok ? await response.json() : undefined];
  };
  expect(await purge('queues/orders')).toEqual([200, { purged: 3 }]);
  expect(await purge('topics/events/subscriptions/all')).toEqual([200, { purged: 1 }]);
  expect(await purge('queues/gone')).toEqual([404, undefined]);
  expect(broker.namespace.queue('orders').sizeInBytes).toBe(0);
});

test('says that it is healthy, and has no quarrel with a queue of that name', async () => {
  const { admin, port } = await anAdmin();
  await admin.createQueue('health');
  const response = await fetch(`http://localhost:${port}/health`);
  expect([response.status, await response.json()]).toEqual([200, { status: 'healthy' }]);
  expect((await admin.getQueue('health')).name).toBe('health');
});

test('says in one line that the port is taken, where, and what to do', async () => {
  const { broker, port } = await anAdmin();
  await expect(startAdminServer({ namespace: broker.namespace, port })).rejects.toThrow(
    `The management API cannot listen on 127.0.0.1:${port}: the port is taken. What to do: stop what listens there, or choose another port.`,
  );
});
