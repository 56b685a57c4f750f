import type { ServiceBusReceivedMessage } from '@azure/service-bus';
import { expect, test, vi } from 'vitest';
import { aBroker, aReceiver, codeOf, QUEUE, receiveOne } from '../a-broker.ts';

const EMPTY = { active: 0, scheduled: 0, deferred: 0, deadLetter: 0, transferDeadLetter: 0 };

test('removes a message when it is completed', async () => {
  const { broker, client } = await aBroker();
  await client.createSender(QUEUE).sendMessages({ body: 'x' });
  const receiver = aReceiver(client);
  await receiver.completeMessage(await receiveOne(receiver));
  expect(broker.namespace.queue(QUEUE).counts()).toEqual(EMPTY);
});

test('gives an abandoned message back at the head, with the properties that came with the abandon', async () => {
  const { client } = await aBroker();
  await client.createSender(QUEUE).sendMessages([{ body: 'a' }, { body: 'b' }]);
  const receiver = aReceiver(client);
  await receiver.abandonMessage(await receiveOne(receiver), { note: 'again', attempt: 2 });
  const messages = await receiver.receiveMessages(2, { maxWaitTimeInMs: 5000 });
  expect(messages.map(({ body, deliveryCount }) => [body, deliveryCount])).toEqual([
    ['a', 1],
    ['b', 0],
  ]);
  expect(messages[0]?.applicationProperties).toEqual({ note: 'again', attempt: 2 });
});

test('dead-letters with reason, description and properties beside those of the sender', async () => {
  const { client } = await aBroker();
  await client
    .createSender(QUEUE)
    .sendMessages({ body: 'x', messageId: 'm', applicationProperties: { kept: 1, replaced: 1 } });
  const receiver = aReceiver(client);
  await receiver.deadLetterMessage(await receiveOne(receiver), {
    deadLetterReason: 'UnsupportedCurrency',
    deadLetterErrorDescription: 'XXX is no currency',
    replaced: 'two',
    added: 0.5,
  });
  const dead = await receiveOne(aReceiver(client, { subQueueType: 'deadLetter' }));
  expect(dead).toMatchObject({
    body: 'x',
    messageId: 'm',
    deadLetterReason: 'UnsupportedCurrency',
    deadLetterErrorDescription: 'XXX is no currency',
  });
  expect(dead.sequenceNumber?.toNumber()).toBe(1);
  expect(dead.applicationProperties).toEqual({
    kept: 1,
    replaced: 'two',
    added: 0.5,
    DeadLetterReason: 'UnsupportedCurrency',
    DeadLetterErrorDescription: 'XXX is no currency',
  });
});

test('completes a dead letter', async () => {
  const { broker, client } = await aBroker();
  await client.createSender(QUEUE).sendMessages({ body: 'x' });
  const receiver = aReceiver(client);
  await receiver.deadLetterMessage(await receiveOne(receiver));
  const deadLetters = aReceiver(client, { subQueueType: 'deadLetter' });
  const dead = await receiveOne(deadLetters);
  expect([dead.deadLetterReason, dead.deadLetterErrorDescription]).toEqual([undefined, undefined]);
  await deadLetters.completeMessage(dead);
  expect(broker.namespace.queue(QUEUE).counts()).toEqual(EMPTY);
});

test('dead-letters a message whose deliveries are used up', async () => {
  const { client } = await aBroker({ maxDeliveryCount: 3 });
  await client.createSender(QUEUE).sendMessages({ body: 'x' });
  const receiver = aReceiver(client);
  for (const count of [0, 1, 2]) {
    const message = await receiveOne(receiver);
    expect(message.deliveryCount).toBe(count);
    await receiver.abandonMessage(message);
  }
  expect(await receiveOne(aReceiver(client, { subQueueType: 'deadLetter' }))).toMatchObject({
    deliveryCount: 3,
    deadLetterReason: 'MaxDeliveryCountExceeded',
    deadLetterErrorDescription: 'Message could not be consumed after 3 delivery attempts.',
  });
});

test('delivers again when the lock has ended, and tells the late receiver that its lock is lost', async () => {
  const { broker, client, pass } = await aBroker({ lockDurationInMs: 30_000 });
  await client.createSender(QUEUE).sendMessages({ body: 'x' });
  const receiver = aReceiver(client);
  const late = await receiveOne(receiver);
  pass(30_000);
  const again = await receiveOne(receiver);
  expect(again.deliveryCount).toBe(1);
  expect(await codeOf(receiver.completeMessage(late))).toBe('MessageLockLost');
  expect(broker.namespace.queue(QUEUE).counts().active).toBe(1);
  await receiver.completeMessage(again);
  expect(broker.namespace.queue(QUEUE).counts()).toEqual(EMPTY);
});

test.each([
  [
    'abandon',
    (receiver: ReturnType<typeof aReceiver>, message: ServiceBusReceivedMessage) => receiver.abandonMessage(message),
  ],
  [
    'defer',
    (receiver: ReturnType<typeof aReceiver>, message: ServiceBusReceivedMessage) => receiver.deferMessage(message),
  ],
  [
    'dead-letter',
    (receiver: ReturnType<typeof aReceiver>, message: ServiceBusReceivedMessage) => receiver.deadLetterMessage(message),
  ],
])('refuses to %s under a lock that has ended', async (_name, settle) => {
  const { broker, client, pass } = await aBroker({ lockDurationInMs: 30_000 });
  await client.createSender(QUEUE).sendMessages({ body: 'x' });
  const receiver = aReceiver(client);
  const late = await receiveOne(receiver);
  pass(30_000);
  expect(await codeOf(settle(receiver, late))).toBe('MessageLockLost');
  expect(broker.namespace.queue(QUEUE).counts()).toMatchObject({ active: 1, deferred: 0, deadLetter: 0 });
});

test('renews a lock, so that the message can still be settled later', async () => {
  const { broker, client, pass } = await aBroker({ lockDurationInMs: 30_000 });
  await client.createSender(QUEUE).sendMessages({ body: 'x' });
  const receiver = aReceiver(client);
  const message = await receiveOne(receiver);
  const firstEndUtc = Number(message.lockedUntilUtc);
  pass(20_000);
  const renewedUtc = Number(await receiver.renewMessageLock(message));
  expect(renewedUtc).toBeGreaterThanOrEqual(firstEndUtc + 20_000);
  pass(20_000);
  await receiver.completeMessage(message);
  expect(broker.namespace.queue(QUEUE).counts()).toEqual(EMPTY);
});

test('renews no lock that has ended', async () => {
  const { client, pass } = await aBroker({ lockDurationInMs: 30_000 });
  await client.createSender(QUEUE).sendMessages({ body: 'x' });
  const receiver = aReceiver(client);
  const message = await receiveOne(receiver);
  pass(30_000);
  expect(await codeOf(receiver.renewMessageLock(message))).toBe('MessageLockLost');
});

test('keeps a lock when the link that took it has closed, and lets the message be settled without the link', async () => {
  const { broker, client } = await aBroker();
  await client.createSender(QUEUE).sendMessages({ body: 'x' });
  const receiver = aReceiver(client);
  const message = await receiveOne(receiver);
  await receiver.close();
  expect(await aReceiver(client).receiveMessages(1, { maxWaitTimeInMs: 50 })).toEqual([]);
  await aReceiver(client).deadLetterMessage(message, {
    deadLetterReason: 'Late',
    deadLetterErrorDescription: 'd',
    extra: 7,
  });
  const [dead] = broker.namespace.queue(`${QUEUE}/$DeadLetterQueue`).peek(0, 1);
  expect([...(dead?.properties?.keys() ?? [])].sort()).toEqual([
    'DeadLetterErrorDescription',
    'DeadLetterReason',
    'extra',
  ]);
});

test('defers a message and hands it over by its number', async () => {
  const { broker, client } = await aBroker();
  await client.createSender(QUEUE).sendMessages({ body: 'x' });
  const receiver = aReceiver(client);
  const message = await receiveOne(receiver);
  await receiver.deferMessage(message);
  expect(await receiver.receiveMessages(1, { maxWaitTimeInMs: 50 })).toEqual([]);
  const [deferred] = await receiver.receiveDeferredMessages(message.sequenceNumber ?? []);
  expect(deferred).toMatchObject({ body: 'x', state: 'deferred', sequenceNumber: message.sequenceNumber });
  await receiver.completeMessage(deferred as ServiceBusReceivedMessage);
  expect(broker.namespace.queue(QUEUE).counts()).toEqual(EMPTY);
  expect(await codeOf(receiver.receiveDeferredMessages(message.sequenceNumber ?? []))).toBe('MessageNotFound');
});

test('removes messages as it hands them over in receive-and-delete mode', async () => {
  const { broker, client } = await aBroker();
  await client.createSender(QUEUE).sendMessages([{ body: 'a' }, { body: 'b' }]);
  const receiver = client.createReceiver(QUEUE, { receiveMode: 'receiveAndDelete' });
  const messages = await receiver.receiveMessages(2, { maxWaitTimeInMs: 5000 });
  expect(messages.map(({ body }) => body)).toEqual(['a', 'b']);
  expect(broker.namespace.queue(QUEUE).counts()).toEqual(EMPTY);
});

test('answers a drain at any credit: neither a part-filled nor an empty receive loses the link', async () => {
  const { client } = await aBroker();
  const sender = client.createSender(QUEUE);
  const receiver = aReceiver(client);
  expect(await receiver.receiveMessages(5, { maxWaitTimeInMs: 20 })).toEqual([]);
  await sender.sendMessages([{ body: 'a' }, { body: 'b' }]);
  expect(await receiver.receiveMessages(5, { maxWaitTimeInMs: 500 })).toHaveLength(2);
  await sender.sendMessages({ body: 'c' });
  expect((await receiveOne(receiver)).body).toBe('c');
});

test('pushes messages to a subscriber as they come, however many it holds', async () => {
  const { broker, client } = await aBroker();
  const receiver = aReceiver(client);
  const bodies: unknown[] = [];
  receiver.subscribe(
    {
      processMessage: async ({ body }) => {
        bodies.push(body);
      },
      processError: async ({ error }) => {
        throw error;
      },
    },
    { maxConcurrentCalls: 3 },
  );
  const expected = Array.from({ length: 50 }, (_, index) => index);
  await client.createSender(QUEUE).sendMessages(expected.map((body) => ({ body })));
  await vi.waitFor(() => expect(bodies).toEqual(expected), { timeout: 10_000 });
  await vi.waitFor(() => expect(broker.namespace.queue(QUEUE).counts()).toEqual(EMPTY), { timeout: 10_000 });
});
