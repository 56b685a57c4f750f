import { expect, test } from 'vitest';
import { aBroker, aReceiver, codeOf, QUEUE, receiveOne } from '../a-broker.ts';

const MINUTE_IN_MS = 60_000;

test('delivers a message with the fields and the broker properties that the SDK reads', async () => {
  const { client } = await aBroker({ lockDurationInMs: 30_000 });
  const sentUtc = Date.now();
  await client.createSender(QUEUE).sendMessages({
    body: { orderId: 'o-1' },
    messageId: 'm-1',
    contentType: 'application/json',
    correlationId: 'c-1',
    subject: 'created',
    to: 'billing',
    replyTo: 'answers',
    applicationProperties: { attempt: 1, rate: 0.5, isFirst: true, at: new Date(1_700_000_000_000) },
  });
  const message = await receiveOne(aReceiver(client));
  expect(message).toMatchObject({
    body: { orderId: 'o-1' },
    messageId: 'm-1',
    contentType: 'application/json',
    correlationId: 'c-1',
    subject: 'created',
    to: 'billing',
    replyTo: 'answers',
    applicationProperties: { attempt: 1, rate: 0.5, isFirst: true, at: 1_700_000_000_000 },
    deliveryCount: 0,
    state: 'active',
  });
  expect(message.sequenceNumber?.toNumber()).toBe(1);
  expect(message.enqueuedTimeUtc?.getTime()).toBeGreaterThanOrEqual(sentUtc);
  const lockedForInMs = Number(message.lockedUntilUtc) - Number(message.enqueuedTimeUtc);
  expect(lockedForInMs).toBeGreaterThanOrEqual(30_000);
  expect(message.lockToken).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
});

test('gives an id to a message that has none', async () => {
  const { client } = await aBroker();
  await client.createSender(QUEUE).sendMessages({ body: 'x', subject: 'kept' });
  expect(await receiveOne(aReceiver(client))).toMatchObject({
    messageId: expect.stringMatching(/^[\da-f]{32}$/),
    subject: 'kept',
  });
});

test('takes a batch apart, in its order', async () => {
  const { client } = await aBroker();
  const sender = client.createSender(QUEUE);
  const batch = await sender.createMessageBatch();
  for (const messageId of ['a', 'b', 'c']) batch.tryAddMessage({ body: messageId, messageId });
  await sender.sendMessages(batch);
  const messages = await aReceiver(client).receiveMessages(3, { maxWaitTimeInMs: 5000 });
  expect(messages.map(({ body }) => body)).toEqual(['a', 'b', 'c']);
});

test('holds a message of scheduleMessages until it is due, and shows it to a peek as scheduled', async () => {
  const { client, pass } = await aBroker();
  const sender = client.createSender(QUEUE);
  const dueUtc = Date.now() + 10 * MINUTE_IN_MS;
  const [number] = await sender.scheduleMessages({ body: 'later', messageId: 'm' }, new Date(dueUtc));
  const receiver = aReceiver(client);
  const [peeked] = await receiver.peekMessages(1);
  expect(peeked).toMatchObject({ state: 'scheduled', messageId: 'm', sequenceNumber: number });
  expect(peeked?.scheduledEnqueueTimeUtc?.getTime()).toBe(dueUtc);
  expect(await receiver.receiveMessages(1, { maxWaitTimeInMs: 50 })).toEqual([]);
  pass(11 * MINUTE_IN_MS);
  const message = await receiveOne(receiver);
  expect(message.enqueuedTimeUtc?.getTime()).toBe(dueUtc);
  expect(message.sequenceNumber?.toNumber()).toBe(2);
});

test.each([
  ['a single message', (message: object) => message],
  ['an array', (message: object) => [message]],
])('holds a message with a scheduled enqueue time sent as %s', async (_name, wrap) => {
  const { broker, client, pass } = await aBroker();
  const scheduledEnqueueTimeUtc = new Date(Date.now() + MINUTE_IN_MS);
  await client.createSender(QUEUE).sendMessages(wrap({ body: 'later', scheduledEnqueueTimeUtc }) as never);
  expect(broker.namespace.queue(QUEUE).counts()).toMatchObject({ active: 0, scheduled: 1 });
  pass(2 * MINUTE_IN_MS);
  expect((await receiveOne(aReceiver(client))).body).toBe('later');
});

test('holds the scheduled message inside a batch and sends the other', async () => {
  const { broker, client } = await aBroker();
  const sender = client.createSender(QUEUE);
  const batch = await sender.createMessageBatch();
  batch.tryAddMessage({ body: 'now' });
  batch.tryAddMessage({ body: 'later', scheduledEnqueueTimeUtc: new Date(Date.now() + MINUTE_IN_MS) });
  await sender.sendMessages(batch);
  expect(broker.namespace.queue(QUEUE).counts()).toMatchObject({ active: 1, scheduled: 1 });
});

test('cancels a scheduled message, and says that it is not there the second time', async () => {
  const { broker, client } = await aBroker();
  const sender = client.createSender(QUEUE);
  const numbers = await sender.scheduleMessages({ body: 'x' }, new Date(Date.now() + MINUTE_IN_MS));
  await sender.cancelScheduledMessages(numbers);
  expect(broker.namespace.queue(QUEUE).counts().scheduled).toBe(0);
  expect(await codeOf(sender.cancelScheduledMessages(numbers))).toBe('MessageNotFound');
});

test('drops a duplicate within the window while the send succeeds, scheduled ones included', async () => {
  const { broker, client, pass } = await aBroker({ duplicateDetectionWindowInMs: MINUTE_IN_MS });
  const sender = client.createSender(QUEUE);
  await sender.sendMessages({ body: 'first', messageId: 'same' });
  await sender.sendMessages({ body: 'dropped', messageId: 'same' });
  const dueUtc = new Date(Date.now() + 5 * MINUTE_IN_MS);
  const [number] = await sender.scheduleMessages({ body: 'dropped', messageId: 'same' }, dueUtc);
  expect(number?.toNumber()).toBe(3);
  await sender.sendMessages({ body: 'dropped', messageId: 'same', scheduledEnqueueTimeUtc: dueUtc });
  expect(broker.namespace.queue(QUEUE).counts()).toMatchObject({ active: 1, scheduled: 0 });
  pass(MINUTE_IN_MS);
  await sender.sendMessages({ body: 'second', messageId: 'same' });
  expect(broker.namespace.queue(QUEUE).counts()).toMatchObject({ active: 2, scheduled: 0 });
});

test('expires a message by its own time to live, into the dead-letter queue where the queue says so', async () => {
  const { client, pass } = await aBroker({ deadLetteringOnMessageExpiration: true });
  await client.createSender(QUEUE).sendMessages({ body: 'x', messageId: 'm', timeToLive: 5000 });
  pass(5000);
  expect(await receiveOne(aReceiver(client, { subQueueType: 'deadLetter' }))).toMatchObject({
    messageId: 'm',
    deadLetterReason: 'TTLExpiredException',
    deadLetterErrorDescription: 'The message expired and was dead lettered.',
  });
});

test.each([
  ['its own time to live', 10_000, 10_000],
  ['the time to live of the queue, which caps its own', 10 * MINUTE_IN_MS, MINUTE_IN_MS],
  ['the time to live of the queue, having none of its own', undefined, MINUTE_IN_MS],
])('shows when a message expires by %s', async (_name, timeToLive, expectedInMs) => {
  const { client } = await aBroker({ defaultTimeToLiveInMs: MINUTE_IN_MS });
  await client.createSender(QUEUE).sendMessages(timeToLive === undefined ? { body: 'x' } : { body: 'x', timeToLive });
  const message = await receiveOne(aReceiver(client));
  expect(Number(message.expiresAtUtc) - Number(message.enqueuedTimeUtc)).toBe(expectedInMs);
});

test('says that an entity is not there', async () => {
  const { client } = await aBroker();
  expect(await codeOf(client.createSender('nowhere').sendMessages({ body: 1 }))).toBe('MessagingEntityNotFound');
  expect(await codeOf(client.createReceiver('nowhere').receiveMessages(1))).toBe('MessagingEntityNotFound');
});

test('refuses to send to a dead-letter queue', async () => {
  const { client } = await aBroker();
  const sender = client.createSender(`${QUEUE}/$DeadLetterQueue`);
  await expect(sender.sendMessages({ body: 1 })).rejects.toThrow(/cannot be sent to .* a dead-letter queue/);
});
