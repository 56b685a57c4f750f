import rhea from 'rhea';
import { expect, test } from 'vitest';
import { readBody } from '../../../../functions/core/rules/body.ts';
import type { Delivery } from '../../../../functions/core/rules/delivery.ts';
import { readEnvelope } from '../../../../functions/core/rules/envelope.ts';
import { type Copy, redeliveryOf } from '../../../../functions/core/rules/redelivery.ts';
import { encodedList, encodedMap, encodedSection, encodedSymbol } from '../../../../local/broker/amqp/codec/encode.ts';
import { SECTION } from '../../../../local/broker/amqp/codec/sections.ts';
import { aRawClient } from '../../../local/broker/amqp/raw-client.ts';
import { annotationsIn, bodyIn, data, fieldsIn, propertiesIn, sequence, value } from './a-message.ts';
import { aQueue, START_UTC, type TestQueue } from './a-queue.ts';
import { hex, PROPERTIES, wrap } from './wire-values.ts';

const HOPS = [1, 2, 3, 4, 5, 6];
const DELAY_IN_MS = 10_000;
const CONSUMER = 'orders/order-placed';
const FAILURE = { reason: 'HTTP 503', code: 'HTTP 503', message: 'the provider is down' };

/** The copy that follows a delivery whose attempt has failed. */
function copyAfter(delivery: Delivery, attempt: number, nowUtc: number): Copy {
  const deadlineUtc = START_UTC + 3_600_000;
  const lineage = { consumer: CONSUMER, policyName: 'order-placed', generation: 0, attempt, deadlineUtc };
  const plan = { dueUtc: nowUtc + DELAY_IN_MS, failure: FAILURE };
  return redeliveryOf(delivery, readEnvelope(delivery, CONSUMER), lineage, plan, nowUtc);
}

/** What must be the same at every hop, as bytes at the broker. */
const untouched = (bytes: Buffer) => ({
  body: bodyIn(bytes),
  applicationProperties: propertiesIn(bytes).filter(([name]) => !name?.startsWith('retry-')),
  fields: fieldsIn(bytes, SECTION.properties)
    .slice(1)
    .map((field) => field.toString('hex')),
  header: [0, 1].map((at) => fieldsIn(bytes, SECTION.header)[at]?.toString('hex') ?? '40'),
  annotations: annotationsIn(bytes).filter(([name]) => name !== 'x-opt-scheduled-enqueue-time'),
});

/** Takes the queue's one message through six hops; what the broker stored at each, the first message included. */
async function storedAtEachHop({ sender, pass, stored, take }: TestQueue): Promise<Buffer[]> {
  const all = stored();
  for (const hop of HOPS) {
    const delivery = take();
    await sender.send(delivery, copyAfter(delivery, hop, START_UTC + (hop - 1) * DELAY_IN_MS));
    all.push(...stored());
    pass(DELAY_IN_MS);
  }
  return all;
}

const FIELDS = [
  wrap('uuid', Buffer.alloc(16, 1)),
  wrap('binary', Buffer.from('user')),
  wrap('string', 'to'),
  wrap('string', 'subject'),
  wrap('string', 'reply-to'),
  wrap('ulong', 99),
  wrap('symbol', 'application/json'),
  wrap('symbol', 'identity'),
  wrap('timestamp', 1_767_690_000_000),
  wrap('timestamp', 1_767_603_600_000),
  wrap('string', 'session'),
  wrap('uint', 7),
  wrap('string', 'reply-to-session'),
];

/** A message with every field and a property of every type, around a body. */
const aFullMessage = (...body: Buffer[]): Buffer =>
  Buffer.concat([
    encodedSection(SECTION.header, encodedList([wrap('boolean', true), wrap('ubyte', 7)])),
    encodedSection(
      SECTION.messageAnnotations,
      encodedMap([encodedSymbol('x-opt-partition-key'), wrap('string', 'session'), encodedSymbol('own'), hex('5001')]),
    ),
    encodedSection(SECTION.properties, encodedList(FIELDS)),
    encodedSection(
      SECTION.applicationProperties,
      encodedMap(PROPERTIES.flatMap(([name, bytes]) => [wrap('string', name), bytes])),
    ),
    ...body,
  ]);

// A1, A2, A4, A6, A7, C4, C5, C9.
test.each([
  ['JSON with an id that a double would round', data('{"id":9007199254740993, "amt":1.10}')],
  ['JSON behind a byte order mark', data(hex('efbbbf 7b7d'))],
  ['a bare number', data('6371691901200433359')],
  ['two data sections', Buffer.concat([data('{"a"'), data(':1}')])],
  ['an empty data section', data('')],
  ['the text null', data('null')],
  ['bytes that are no text', data(hex('fffe00'))],
  ['more bytes than fit in a frame', data(Buffer.alloc(100_000, 'x'))],
  ['a text value', value(wrap('string', '{"a":1}'))],
  ['a null value', value(hex('40'))],
  ['a map value', value(wrap('map', { a: 1.5, b: [true, 'x'] }))],
  ['a sequence', sequence(wrap('list', [1, 2, 3]))],
  ['no body', Buffer.alloc(0)],
])('keeps body, properties, fields and annotations over six hops, byte for byte: %s', async (_name, body) => {
  const queue = await aQueue();
  const client = await aRawClient(queue.broker.port);
  const original = aFullMessage(body);
  expect(await client.send('orders', original)).toBe('accepted');

  const all = await storedAtEachHop(queue);

  expect(all[0]?.equals(original)).toBe(true);
  expect(all.map(untouched)).toEqual(Array.from({ length: 7 }, () => untouched(original)));
  expect(propertiesIn(all[6] ?? Buffer.alloc(0))).toContainEqual(['retry-attempt', '7100000006']);
});

// What the SDK itself makes of values, dates and big numbers.
test.each([
  ['a JSON body', { body: { a: 1 }, contentType: 'application/json' }],
  ['a text body', { body: 'text', subject: 's', correlationId: 'c', partitionKey: 'p' }],
  ['a message without body', { body: undefined }],
  ['a value', { body: { a: [1, 2.5] }, bodyType: 'value' as const }],
  ['a sequence', { body: [[1, 'x']], bodyType: 'sequence' as const }],
  [
    'bytes and properties',
    { body: Buffer.from([0xff]), applicationProperties: { at: new Date(1), n: 3, f: 1.5, no: null } },
  ],
])('keeps what the SDK sends over six hops, byte for byte: %s', async (_name, sent) => {
  const queue = await aQueue();
  await queue.client.createSender('orders').sendMessages(sent as never);
  const [original = Buffer.alloc(0)] = queue.stored();

  const all = await storedAtEachHop(queue);

  expect(all.map(untouched)).toEqual(Array.from({ length: 7 }, () => untouched(original)));
});

test('gives the handler the same value at every hop, of what the SDK sends', async () => {
  const queue = await aQueue();
  const { message } = rhea;
  const client = await aRawClient(queue.broker.port);
  await client.send('orders', message.encode({ body: message.data_section(Buffer.from('{"a":1}')) }));
  const values: unknown[] = [];

  for (const hop of HOPS) {
    const delivery = queue.take();
    values.push(readBody(delivery));
    await queue.sender.send(delivery, copyAfter(delivery, hop, START_UTC + (hop - 1) * DELAY_IN_MS));
    queue.pass(DELAY_IN_MS);
  }

  expect(values).toEqual(HOPS.map(() => ({ kind: 'value', value: { a: 1 } })));
});

// F1: the deadline is fixed when the message is first enqueued.
test('lets the absolute time to live run out over the hops, and gives none to a message that has none', async () => {
  const queue = await aQueue();
  const { message } = rhea;
  const client = await aRawClient(queue.broker.port);
  await client.send('orders', message.encode({ ttl: 90_000, body: 'x' }));

  const timesToLive = (await storedAtEachHop(queue)).map((bytes) => message.decode(bytes)['ttl']);

  expect(timesToLive).toEqual([90_000, 80_000, 70_000, 60_000, 50_000, 40_000, 30_000]);
});
