import rhea from 'rhea';
import { expect, test } from 'vitest';
import { SECTION, sectionsOf } from '../../../../local/broker/amqp/codec/sections.ts';
import { BATCH_FORMAT } from '../../../../local/broker/amqp/rhea-internals.ts';
import { aBroker, aReceiver, codeOf, QUEUE, receiveOne } from '../a-broker.ts';
import { aRawClient } from './raw-client.ts';

const { types, message } = rhea;

/** The sections of a message that are the sender's own, as bytes. */
function ownBytes(bytes: Buffer, ...codes: number[]): string[] {
  const sections = sectionsOf(bytes).filter(({ code }) => codes.includes(code));
  return sections.map(({ start, end }) => bytes.toString('hex', start, end));
}

const everyType = {
  int: types.wrap_int(7),
  long: types.wrap_long(7_000_000_000),
  hugeLong: types.wrap_long(Buffer.from('7fffffffffffffff', 'hex')),
  double: types.wrap_double(3),
  float: types.wrap_float(0.5),
  ubyte: types.wrap_ubyte(200),
  uuid: types.wrap_uuid(Buffer.alloc(16, 9)),
  binary: types.wrap_binary(Buffer.from([1, 2, 3])),
  symbol: types.wrap_symbol('symbol'),
  at: types.wrap_timestamp(1_700_000_000_000),
  yes: true,
  text: 'größer',
};

test.each([
  ['data', message.data_section(Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d]))],
  ['two data sections', message.data_sections([Buffer.from('{"a"'), Buffer.from(':1}')])],
  ['empty data', message.data_section(Buffer.alloc(0))],
  ['a value', { a: types.wrap_long(1), b: [1.5, 'x'] }],
  ['a null value', null],
  ['a sequence', message.sequence_section([1, 2, 3])],
])('keeps %s and the types of all properties, byte for byte', async (_name, body) => {
  const { broker } = await aBroker();
  const client = await aRawClient(broker.port);
  const sent = message.encode({
    durable: true,
    priority: 7,
    message_id: types.wrap_uuid(Buffer.alloc(16, 5)),
    correlation_id: types.wrap_ulong(99),
    message_annotations: { 'x-opt-partition-key': 'p', own: types.wrap_ubyte(1) },
    application_properties: everyType,
    body,
    footer: { note: 'f' },
  });
  expect(await client.send(QUEUE, sent)).toBe('accepted');
  const received = await client.receiveBytes(QUEUE);
  const kept = [
    SECTION.properties,
    SECTION.applicationProperties,
    SECTION.data,
    SECTION.sequence,
    SECTION.value,
    SECTION.footer,
  ];
  expect(ownBytes(received, ...kept)).toEqual(ownBytes(sent, ...kept));
  const { durable, priority, message_annotations } = message.decode(received);
  expect({ durable, priority }).toEqual({ durable: true, priority: 7 });
  expect(message_annotations).toMatchObject({ 'x-opt-partition-key': 'p', own: 1, 'x-opt-sequence-number': 1 });
});

test('keeps a message without a body, and does not believe annotations that only the broker may give', async () => {
  const { broker } = await aBroker();
  const client = await aRawClient(broker.port);
  const annotated = message.encode({
    message_id: 'm',
    message_annotations: { 'x-opt-sequence-number': types.wrap_long(99) },
    body: 'dropped below',
  });
  const withoutBody = annotated.subarray(0, sectionsOf(annotated).find(({ code }) => code >= SECTION.data)?.start);
  expect(await client.send(QUEUE, withoutBody)).toBe('accepted');
  const received = await client.receiveBytes(QUEUE);
  expect(sectionsOf(received).map(({ code }) => code)).toEqual([
    SECTION.header,
    SECTION.messageAnnotations,
    SECTION.properties,
  ]);
  expect(message.decode(received)['message_annotations']?.['x-opt-sequence-number']).toBe(1);
});

test('keeps the types of properties that a settlement adds', async () => {
  const { broker, client } = await aBroker();
  const raw = await aRawClient(broker.port);
  await client.createSender(QUEUE).sendMessages({ body: 'x', applicationProperties: { own: 1.5 } });
  const receiver = aReceiver(client);
  const long = types.wrap_long(5_000_000_000) as never;
  await receiver.abandonMessage(await receiveOne(receiver), { long });
  const sections = sectionsOf(await raw.receiveBytes(QUEUE));
  expect(sections.some(({ code }) => code === SECTION.applicationProperties)).toBe(true);
  const [stored] = broker.namespace.queue(QUEUE).peek(0, 1);
  expect(Buffer.from(stored?.properties?.get('long') as Uint8Array).toString('hex')).toBe('81000000012a05f200');
});

test('carries a body of many frames in both directions', async () => {
  const { client } = await aBroker();
  const body = Buffer.alloc(250_000, 'x');
  await client.createSender(QUEUE).sendMessages({ body });
  expect(body.equals((await receiveOne(aReceiver(client))).body)).toBe(true);
});

test.each([
  ['no section', 'ff', 0],
  ['a descriptor that breaks off', '0053', 0],
  ['a body longer than the message', '005375a0ff01', 0],
  ['a section that does not exist', '00537945', 0],
  ['a header that is no list', '005370a10178', 0],
  ['annotations that break off', '005372c1020171', 0],
  ['a time to live of no known type', '005370c0050340405f00', 0],
  ['a batch of something else than binary', '00537540', BATCH_FORMAT],
  ['a batch of something else than messages', '005375a00101', BATCH_FORMAT],
])('refuses %s, and goes on', async (_name, hex, format) => {
  const { broker, client } = await aBroker();
  const raw = await aRawClient(broker.port);
  expect(await raw.send(QUEUE, Buffer.from(hex, 'hex'), format)).toBe('rejected');
  expect(await codeOf(client.createSender(QUEUE).sendMessages({ body: 1 }))).toBe('no error');
});

test('refuses a message format that it does not know', async () => {
  const { broker } = await aBroker();
  const raw = await aRawClient(broker.port);
  expect(await raw.send(QUEUE, message.encode({ body: 1 }), 0x80013701)).toBe('rejected');
});
