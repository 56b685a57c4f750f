import rhea from 'rhea';
import { expect, test } from 'vitest';
import { aBroker, aReceiver, codeOf, QUEUE, receiveOne } from '../a-broker.ts';
import { aRawClient } from './raw-client.ts';

const EMPTY = { active: 0, scheduled: 0, deferred: 0, deadLetter: 0, transferDeadLetter: 0 };
const text = (length: number) => 'x'.repeat(length);

test('refuses a message above the size of the link and takes one below', async () => {
  const { broker, client } = await aBroker();
  const sender = client.createSender(QUEUE);
  await sender.sendMessages({ body: Buffer.alloc(262_000) });
  expect(await codeOf(sender.sendMessages({ body: Buffer.alloc(262_200) }))).toBe('MessageSizeExceeded');
  await sender.sendMessages({ body: 'the sender goes on' });
  expect(broker.namespace.queue(QUEUE).counts().active).toBe(2);
});

test('takes messages as large as the queue says, and batches up to a megabyte', async () => {
  const { broker, client } = await aBroker({ maxMessageSizeInBytes: 3 * 1024 * 1024 });
  const sender = client.createSender(QUEUE);
  expect((await sender.createMessageBatch()).maxSizeInBytes).toBeGreaterThanOrEqual(1024 * 1024);
  const body = Buffer.alloc(3_145_000, 'x');
  await sender.sendMessages({ body });
  expect(await codeOf(sender.sendMessages({ body: Buffer.alloc(3_146_000) }))).toBe('MessageSizeExceeded');
  const halves = [Buffer.alloc(600_000), Buffer.alloc(600_000)];
  expect(await codeOf(sender.sendMessages(halves.map((half) => ({ body: half }))))).toBe('MessageSizeExceeded');
  expect(body.equals((await receiveOne(aReceiver(client))).body)).toBe(true);
  expect(broker.namespace.queue(QUEUE).counts().active).toBe(1);
});

test.each([
  ['one application property of more than 32 KB', { applicationProperties: { big: text(32 * 1024) } }, /'big' exceeds/],
  [
    'more than 64 KB of application properties together',
    { applicationProperties: { a: text(30_000), b: text(30_000), c: text(6000) } },
    /sum of all application properties exceeds the limit of 65536 bytes/,
  ],
])('refuses %s, sent and scheduled', async (_name, fields, expected) => {
  const { broker, client } = await aBroker();
  const sender = client.createSender(QUEUE);
  await expect(sender.sendMessages({ body: 1, ...fields })).rejects.toThrow(expected);
  await expect(sender.scheduleMessages({ body: 1, ...fields }, new Date(Date.now() + 60_000))).rejects.toThrow(
    expected,
  );
  expect(broker.namespace.queue(QUEUE).counts()).toEqual(EMPTY);
});

/** Bytes of AMQP around a long text, and around a property with a name of one letter. */
const TEXT_HEAD = 5;
const NAME = 3;

test.each([
  ['a message of 262,144 bytes', (extra: number) => sized(262_144 + extra)],
  [
    'an application property of 32,768 bytes',
    (extra: number) => withProperties({ a: text(32_768 - TEXT_HEAD + extra) }),
  ],
  [
    'application properties of 65,536 bytes together',
    (extra: number) => {
      const half = 32_768 - NAME - TEXT_HEAD;
      return withProperties({ a: text(half), b: text(half + extra) });
    },
  ],
  ['a message id of 128 characters', (extra: number) => withFields({ message_id: text(128 + extra) })],
  ['a session id of 128 characters', (extra: number) => withFields({ group_id: text(128 + extra) })],
  [
    'a partition key of 128 characters',
    (extra: number) => withFields({ message_annotations: { 'x-opt-partition-key': text(128 + extra) } }),
  ],
])('takes %s, and not one more', async (_name, bytes) => {
  const { broker } = await aBroker();
  const raw = await aRawClient(broker.port);
  expect([await raw.send(QUEUE, bytes(0)), await raw.send(QUEUE, bytes(1))]).toEqual(['accepted', 'rejected']);
});

function withFields(fields: object): Buffer {
  return rhea.message.encode({ message_id: 'm', body: 1, ...fields });
}

function withProperties(application_properties: object): Buffer {
  return withFields({ application_properties });
}

/** A message of exactly so many bytes. */
function sized(bytes: number): Buffer {
  const around = withFields({ body: text(bytes) }).length - bytes;
  return withFields({ body: text(bytes - around) });
}

test('takes a description of 4096 characters', async () => {
  const { broker, client } = await aBroker();
  await client.createSender(QUEUE).sendMessages({ body: 1 });
  const receiver = aReceiver(client);
  const deadLetterErrorDescription = text(4096);
  await receiver.deadLetterMessage(await receiveOne(receiver), { deadLetterReason: 'R', deadLetterErrorDescription });
  expect(broker.namespace.queue(QUEUE).counts()).toMatchObject({ active: 0, deadLetter: 1 });
});

test('takes nothing of a batch, or of a request to schedule, that would fit in part', async () => {
  const { broker, client } = await aBroker({ maxSizeInBytes: 10_000 });
  const sender = client.createSender(QUEUE);
  const three = Array.from({ length: 3 }, () => ({ body: Buffer.alloc(4000) }));
  expect(await codeOf(sender.sendMessages(three))).toBe('QuotaExceeded');
  expect(await codeOf(sender.scheduleMessages(three, new Date(Date.now() + 60_000)))).toBe('QuotaExceeded');
  expect(broker.namespace.queue(QUEUE).counts()).toEqual(EMPTY);
});

test('fills an entity to the last byte, and not beyond', async () => {
  const bytes = withFields({});
  const { broker } = await aBroker({ maxSizeInBytes: 2 * bytes.length });
  const raw = await aRawClient(broker.port);
  expect(await raw.send(QUEUE, bytes)).toBe('accepted');
  expect(await raw.send(QUEUE, withFields({ body: 1.5 }))).toBe('rejected');
  expect(await raw.send(QUEUE, bytes)).toBe('accepted');
});

test.each([
  ['a description of more than 4096 characters', { deadLetterReason: 'R', deadLetterErrorDescription: text(4097) }],
  ['a property of more than 32 KB', { deadLetterReason: 'R', deadLetterErrorDescription: 'D', big: text(33_000) }],
])('refuses to dead-letter with %s and keeps the lock', async (_name, options) => {
  const { broker, client } = await aBroker();
  await client.createSender(QUEUE).sendMessages({ body: 1 });
  const receiver = aReceiver(client);
  const message = await receiveOne(receiver);
  await expect(receiver.deadLetterMessage(message, options)).rejects.toThrow(/exceeds the limit/);
  expect(broker.namespace.queue(QUEUE).counts()).toMatchObject({ active: 1, deadLetter: 0 });
});

test('refuses to dead-letter where the properties of the message leave no room, link or no link', async () => {
  const { broker, client } = await aBroker();
  const applicationProperties = { a: text(31_000), b: text(31_000) };
  await client.createSender(QUEUE).sendMessages({ body: 1, applicationProperties });
  const receiver = aReceiver(client);
  const message = await receiveOne(receiver);
  await receiver.close();
  const options = { deadLetterReason: 'R', deadLetterErrorDescription: text(4096) };
  await expect(aReceiver(client).deadLetterMessage(message, options)).rejects.toThrow(
    /sum of all application properties/,
  );
  expect(broker.namespace.queue(QUEUE).counts()).toMatchObject({ active: 1, deadLetter: 0 });
  await aReceiver(client).completeMessage(message);
  expect(broker.namespace.queue(QUEUE).counts()).toEqual(EMPTY);
});

test('refuses sends to a full entity until there is room again, scheduled messages and dead letters counted', async () => {
  const { client } = await aBroker({ maxSizeInBytes: 10_000 });
  const sender = client.createSender(QUEUE);
  const receiver = aReceiver(client);
  const body = Buffer.alloc(4500);
  await sender.sendMessages({ body });
  await receiver.deadLetterMessage(await receiveOne(receiver));
  const numbers = await sender.scheduleMessages({ body }, new Date(Date.now() + 60_000));
  expect(await codeOf(sender.sendMessages({ body }))).toBe('QuotaExceeded');
  expect(await codeOf(sender.scheduleMessages({ body }, new Date(Date.now() + 60_000)))).toBe('QuotaExceeded');
  await sender.cancelScheduledMessages(numbers);
  expect(await codeOf(sender.sendMessages({ body }))).toBe('no error');
});
