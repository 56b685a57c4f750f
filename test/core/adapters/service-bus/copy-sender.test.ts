import { ServiceBusClient } from '@azure/service-bus';
import { describe, expect, onTestFinished, test } from 'vitest';
import { copySender } from '../../../../functions/core/adapters/service-bus/copy-sender.ts';
import { encodeBatchOfOne, encodeCopy } from '../../../../functions/core/adapters/service-bus/copy-to-amqp.ts';
import { deliveryFromAmqp } from '../../../../functions/core/adapters/service-bus/delivery-from-amqp.ts';
import { SendError } from '../../../../functions/core/pipeline/ports.ts';
import { string } from '../../../../functions/core/rules/delivery.ts';
import { fitCopy } from '../../../../functions/core/rules/room.ts';
import { aDelivery } from '../../../fixtures/deliveries.ts';
import { aReceiver, receiveOne } from '../../../local/broker/a-broker.ts';
import { aCopy, aMessage, data } from './a-message.ts';
import { aProxyTo } from './a-proxy.ts';
import { aQueue, START_UTC } from './a-queue.ts';
import { wrap } from './wire-values.ts';

const DUE_UTC = START_UTC + 60_000;
const delivery = (raw = aMessage({ properties: [wrap('string', 'A')], body: [data('{"a":1}')] })) => aDelivery({ raw });
const copy = (changes = {}) => aCopy({ dueUtc: DUE_UTC, ...changes });

/** How `work` fails: the error's class and code. */
const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: unknown) => (error instanceof SendError ? error.code : error),
  );

test('leaves one ordinary scheduled message at the broker, which the SDK receives when it is due', async () => {
  const { broker, queue, sender, pass, client } = await aQueue();

  await sender.send(delivery(), copy());

  expect(queue.counts()).toEqual({ active: 0, scheduled: 1, deferred: 0, deadLetter: 0, transferDeadLetter: 0 });
  expect(queue.peek(0, 10).map(({ state, scheduledUtc }) => ({ state, scheduledUtc }))).toEqual([
    { state: 'scheduled', scheduledUtc: DUE_UTC },
  ]);
  pass(60_000);
  const { messageId, body, state, scheduledEnqueueTimeUtc } = await receiveOne(aReceiver(client));
  expect({ messageId, body, state, scheduledEnqueueTimeUtc }).toEqual({
    messageId: 'A~r1~c',
    body: { a: 1 },
    state: 'active',
    scheduledEnqueueTimeUtc: new Date(DUE_UTC),
  });
  expect(broker.namespace.queue('orders').counts().scheduled).toBe(0);
});

// Field cases B2, D1.
test('has a copy that is sent twice dropped by duplicate detection', async () => {
  const { queue, sender } = await aQueue({ RequiresDuplicateDetection: true });

  await sender.send(delivery(), copy());
  await sender.send(delivery(), copy());

  expect(queue.counts().scheduled).toBe(1);
});

/** The broker behind a proxy that sees the wire, and a sender that goes through it. */
async function aWatchedQueue() {
  const { broker, queue } = await aQueue();
  const wire = await aProxyTo(broker.port);
  const connectionString = broker.connectionString.replace(`:${broker.port}`, `:${wire.port}`);
  const client = new ServiceBusClient(connectionString, { retryOptions: { maxRetries: 0, timeoutInMs: 2_000 } });
  onTestFinished(() => client.close());
  return { queue, wire, sender: copySender(client, 'orders') };
}

test('sends fifty copies at once over the one connection and the one link that the start has opened', async () => {
  const { queue, wire, sender } = await aWatchedQueue();
  await sender.open();
  const links = wire.attaches();

  await Promise.all(Array.from({ length: 50 }, (_, at) => sender.send(delivery(), copy({ messageId: `A~r${at}~c` }))));

  expect(queue.counts().scheduled).toBe(50);
  expect(wire.connections()).toBe(1);
  expect(links).toBeGreaterThan(0);
  expect(wire.attaches()).toBe(links);
});

test('sends again after the connection was dropped', async () => {
  const { queue, wire, sender } = await aWatchedQueue();
  await sender.send(delivery(), copy({ messageId: 'A~r1~c' }));

  await wire.drop();
  // Until the drop is seen, a send may be lost with the connection; the pipeline repeats it.
  const ends: unknown[] = [];
  while (ends.at(-1) !== 'none' && ends.length < 20) {
    ends.push(await failureOf(sender.send(delivery(), copy({ messageId: 'A~r2~c' }))));
  }

  expect(ends).toEqual([...Array(ends.length - 1).fill('unavailable'), 'none']);
  expect(queue.peek(0, 10).map(({ content }) => content.messageId)).toEqual(['A~r1~c', 'A~r2~c']);
  expect(wire.connections()).toBe(2);
});

test.each([
  ['before its link is open', undefined, 262_144 - 2_048],
  ['on a link of the Standard tier', 262_144, 262_144 - 2_048],
  ['on a link that takes larger messages', 900_000, 900_000 - 2_048],
  ['on a link that takes more than any batch may hold', 104_857_600, 1_048_576 - 2_048],
])('leaves room for the batch around a copy, %s', async (_name, maxSizeInBytes, expected) => {
  const createSender = () => ({ isClosed: false, createMessageBatch: async () => ({ maxSizeInBytes }) });
  const sender = copySender({ createSender } as unknown as ServiceBusClient, 'orders');

  if (maxSizeInBytes) await sender.open();

  expect(sender.maxMessageInBytes).toBe(expected);
});

test('keeps to the room that it leaves, with everything at its longest', () => {
  const longest = 'ü'.repeat(128);
  const raw = aMessage({
    annotations: { 'x-opt-partition-key': wrap('string', longest) },
    properties: [wrap('string', 'A'), ...Array<undefined>(9).fill(undefined), wrap('string', longest)],
  });
  const encoded = encodeCopy(raw, copy({ messageId: longest }));

  expect(encodeBatchOfOne(encoded, longest).length - Buffer.concat(encoded.pieces).length).toBeLessThan(2_048);
});

test('hears from the broker what its link takes', async () => {
  const { sender } = await aQueue();

  await sender.open();

  expect(sender.maxMessageInBytes).toBe(262_144 - 2_048);
});

test('keeps one link, and opens another only where that was closed', async () => {
  const links: { isClosed: boolean; sendMessages(): Promise<void> }[] = [];
  const createSender = () => {
    const link = { isClosed: false, sendMessages: async () => {} };
    links.push(link);
    return link;
  };
  const sender = copySender({ createSender } as unknown as ServiceBusClient, 'orders');
  await sender.send(delivery(), copy());
  await sender.send(delivery(), copy());
  expect(links).toHaveLength(1);

  for (const link of links) link.isClosed = true;
  await sender.send(delivery(), copy());

  expect(links).toHaveLength(2);
});

test('is refused, for what the message is, by a queue with sessions where it has none', async () => {
  const { sender } = await aQueue({ RequiresSession: true });

  expect(await failureOf(sender.send(delivery(), copy()))).toBe('refused');
});

test('says of a queue that is not there, or is disabled, that it is unavailable: somebody may change that', async () => {
  const { client, queue, sender } = await aQueue();

  expect(await failureOf(copySender(client, 'nowhere').send(delivery(), copy()))).toBe('unavailable');
  queue.update({ ...queue.settings, status: 'SendDisabled' });
  expect(await failureOf(sender.send(delivery(), copy()))).toBe('unavailable');
});

// K3: a copy without its session would be refused.
test('keeps the session, so that a queue with sessions takes the copy', async () => {
  const { queue, sender } = await aQueue({ RequiresSession: true });
  const properties = [wrap('string', 'A'), ...Array<undefined>(9).fill(undefined), wrap('string', 'S')];

  await sender.send(delivery(aMessage({ properties })), copy());

  expect(queue.peek(0, 10).map(({ content: { sessionId } }) => sessionId)).toEqual(['S']);
});

// C2: a message near the limit cannot take one property more.
describe('near the limit of the link', () => {
  const longest = 'x'.repeat(128);
  const set = new Map([['retry-error-message', string('y'.repeat(512))]]);
  const message = (bodyBytes: number) =>
    aMessage({
      annotations: { 'x-opt-partition-key': wrap('string', longest) },
      properties: [wrap('string', longest), ...Array<undefined>(9).fill(undefined), wrap('string', longest)],
      body: [data(Buffer.alloc(bodyBytes, 'z'))],
    });
  const fits = (bodyBytes: number, maxInBytes: number): boolean => {
    const received = deliveryFromAmqp({ lockToken: 't', raw: message(bodyBytes) }, 'orders');
    return fitCopy(received, copy({ messageId: longest, set }), maxInBytes).kind === 'fits';
  };

  test('the broker accepts the largest copy that is said to fit', async () => {
    const { queue, sender } = await aQueue();
    await sender.open();
    let [most, tooMany] = [0, 262_144];
    while (tooMany - most > 1) {
      const middle = Math.floor((most + tooMany) / 2);
      if (fits(middle, sender.maxMessageInBytes)) most = middle;
      else tooMany = middle;
    }

    expect(await failureOf(sender.send(delivery(message(most)), copy({ messageId: longest, set })))).toBe('none');
    expect(queue.counts().scheduled).toBe(1);
    expect(most).toBeGreaterThan(262_144 - 8_192);
  });

  test('a copy that passes it is too large, which trying again does not change', async () => {
    const { queue, sender } = await aQueue();

    expect(await failureOf(sender.send(delivery(message(262_144)), copy()))).toBe('tooLarge');
    expect(queue.counts().scheduled).toBe(0);
  });
});

test('finds out at the start that the queue is not there', async () => {
  const { client } = await aQueue();

  await expect(copySender(client, 'nowhere').open()).rejects.toThrow(
    new SendError(
      'unavailable',
      "sending to nowhere: MessagingEntityNotFound: The messaging entity 'nowhere' could not be found.",
    ),
  );
});

test('says of a broker that is gone that it is unavailable', async () => {
  const { broker, client } = await aQueue();
  await broker.stop();

  expect(await failureOf(copySender(client, 'orders').send(delivery(), copy()))).toBe('unavailable');
});

test('says of a client that was closed that it is unavailable', async () => {
  const { client, sender } = await aQueue();
  await sender.open();
  await client.close();

  expect(await failureOf(sender.send(delivery(), copy()))).toBe('unavailable');
});

test('refuses a message of which no copy can be cut, before anything is sent', async () => {
  const { queue, sender } = await aQueue();

  expect(await failureOf(sender.send(delivery(Buffer.from([0x00, 0x53, 0x75])), copy()))).toBe('refused');
  expect(queue.counts().scheduled).toBe(0);
});

test.each([
  [{ code: 'MessageSizeExceeded', message: 'm' }, 'tooLarge'],
  [{ code: 'UnauthorizedAccess', message: 'm' }, 'unavailable'],
  [{ code: 'MessagingEntityNotFound', message: 'm' }, 'unavailable'],
  [{ code: 'MessagingEntityDisabled', message: 'm' }, 'unavailable'],
  [{ code: 'QuotaExceeded', message: 'm' }, 'unavailable'],
  [{ code: 'ServiceBusy', message: 'm' }, 'unavailable'],
  [{ code: 'ServiceTimeout', message: 'm' }, 'unavailable'],
  [{ code: 'GeneralError', message: 'ArgumentError: the message is wrong' }, 'refused'],
  [{ code: 'GeneralError', message: 'ArgumentOutOfRangeError: a property is' }, 'refused'],
  [{ code: 'GeneralError', message: 'InvalidFieldError: the partition key' }, 'refused'],
  [{ code: 'GeneralError', message: 'DecodeError: the message' }, 'refused'],
  // What Premium says of a batch of more than 1 MB.
  [{ code: 'GeneralError', message: 'InvalidOperationError: received a batch message with no data in it' }, 'refused'],
  [{ code: 'GeneralError', message: 'NotImplementedError: batches' }, 'unavailable'],
  [{ code: 'GeneralError', message: 'ResourceDeletedError: the queue was made anew' }, 'unavailable'],
  [{ code: 'ServiceCommunicationProblem', message: 'ArgumentError: looks like a refusal' }, 'unavailable'],
  [{ code: 'GeneralError', message: 'InternalServerError: try again' }, 'unavailable'],
  [{ message: 'no code at all' }, 'unavailable'],
])('translates %o and keeps it as the cause', async (cause, code) => {
  const failing = { createSender: () => ({ isClosed: false, sendMessages: () => Promise.reject(cause) }) };
  const sender = copySender(failing as unknown as ServiceBusClient, 'orders');

  const thrown = await sender.send(delivery(), copy()).catch((error: unknown) => error);

  expect({
    ...(thrown as SendError),
    message: (thrown as SendError).message,
    cause: (thrown as SendError).cause,
  }).toEqual({
    name: 'SendError',
    code,
    message: `sending to orders: ${'code' in cause ? cause.code : 'error'}: ${cause.message}`,
    cause,
  });
});

test('translates the last of several errors, where the SDK has tried more than once', async () => {
  const errors = [
    { code: 'ServiceTimeout', message: 'late' },
    { code: 'UnauthorizedAccess', message: 'no right' },
  ];
  const failing = { createSender: () => ({ createMessageBatch: () => Promise.reject(new AggregateError(errors)) }) };

  await expect(copySender(failing as unknown as ServiceBusClient, 'orders').open()).rejects.toThrow(
    new SendError('unavailable', 'sending to orders: UnauthorizedAccess: no right'),
  );
});
