import { once } from 'node:events';
import type { EventContext } from 'rhea';
import { expect, test } from 'vitest';
import { defaultRule } from '../../../../local/broker/model/filter/rule.ts';
import { defaultQueueSettings, type EntityStatus } from '../../../../local/broker/model/queue-settings.ts';
import { aBroker, aBrokerOf, aReceiver, codeOf, QUEUE, receiveOne, type TestBroker } from '../a-broker.ts';
import { aRawClient } from './raw-client.ts';

function setStatus({ broker }: TestBroker, status: EntityStatus): void {
  const queue = broker.namespace.queue(QUEUE);
  queue.update({ ...queue.settings, status });
}

const send = ({ client }: TestBroker) => codeOf(client.createSender(QUEUE).sendMessages({ body: 'x' }));
const schedule = ({ client }: TestBroker) =>
  codeOf(client.createSender(QUEUE).scheduleMessages({ body: 'x' }, new Date(Date.now() + 60_000)));
const receive = ({ client }: TestBroker) => codeOf(aReceiver(client).receiveMessages(1, { maxWaitTimeInMs: 100 }));

test.each([
  ['Active', 'no error', 'no error'],
  ['SendDisabled', 'MessagingEntityDisabled', 'no error'],
  ['ReceiveDisabled', 'no error', 'MessagingEntityDisabled'],
  ['Disabled', 'MessagingEntityDisabled', 'MessagingEntityDisabled'],
] as const)('under the status %s answers sends with %s and receivers with %s', async (status, sends, receives) => {
  const test = await aBroker();
  setStatus(test, status);
  expect([await send(test), await schedule(test), await receive(test)]).toEqual([sends, sends, receives]);
});

test.each([
  ['SendDisabled', ['orders'], ['sender']],
  ['ReceiveDisabled', ['orders'], ['receiver']],
  ['Disabled', ['orders', 'orders'], ['sender', 'receiver']],
] as const)('detaches the links that are open when the status becomes %s, and no others', async (status, _, kinds) => {
  const test = await aBroker();
  const { connection } = await aRawClient(test.broker.port);
  const links = { sender: connection.open_sender(QUEUE), receiver: connection.open_receiver(QUEUE) };
  await Promise.all([once(links.sender, 'sendable'), once(links.receiver, 'receiver_open')]);
  const closed = Promise.all(kinds.map((kind) => once(links[kind], `${kind}_error`)));
  setStatus(test, status);
  const errors = ((await closed) as [EventContext][]).map(
    ([context], index) => context[kinds[index] ?? 'sender']?.error,
  );
  const description = "The messaging entity 'orders' is disabled, in full or for this operation.";
  expect(errors).toMatchObject(kinds.map(() => ({ condition: 'com.microsoft:entity-disabled', description })));
  expect([links.sender.is_open(), links.receiver.is_open()]).toEqual(
    (['sender', 'receiver'] as const).map((kind) => !kinds.some((one) => one === kind)),
  );
});

test('lets a message be settled whose queue gives no more, and hands out no deferred one', async () => {
  const test = await aBroker();
  const receiver = aReceiver(test.client);
  await test.client.createSender(QUEUE).sendMessages([{ body: 'deferred' }, { body: 'held' }]);
  const deferred = await receiveOne(receiver);
  await receiver.deferMessage(deferred);
  const held = await receiveOne(receiver);
  setStatus(test, 'ReceiveDisabled');
  expect(await codeOf(receiver.receiveDeferredMessages(deferred.sequenceNumber ?? []))).toBe('MessagingEntityDisabled');
  expect((await receiver.peekMessages(2)).map(({ body }) => body)).toEqual(['deferred', 'held']);
  await receiver.completeMessage(held);
  expect(test.broker.namespace.queue(QUEUE).counts().active).toBe(0);
});

test('gives out what a subscription has collected when it is opened again', async () => {
  const closed = { ...defaultQueueSettings, status: 'ReceiveDisabled' as const };
  const subscriptions = new Map([['s', { queue: closed, rules: [defaultRule] }]]);
  const topic = { defaultTimeToLiveInMs: 3_600_000, duplicateDetectionWindowInMs: undefined, subscriptions };
  const { broker, client } = await aBrokerOf({ queues: new Map(), topics: new Map([['events', topic]]) });
  await client.createSender('events').sendMessages({ body: 'x' });
  const receiver = client.createReceiver('events', 's');
  expect(await codeOf(receiver.receiveMessages(1))).toBe('MessagingEntityDisabled');
  broker.namespace.queue('events/Subscriptions/s').update({ ...closed, status: 'Active' });
  expect((await receiveOne(receiver)).body).toBe('x');
});
