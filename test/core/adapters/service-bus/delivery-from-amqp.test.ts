import { expect, test } from 'vitest';
import {
  deliveryFromAmqp,
  splitBindingData,
} from '../../../../functions/core/adapters/service-bus/delivery-from-amqp.ts';
import { aMessage, data, ENQUEUED_UTC } from './a-message.ts';
import { hex, PROPERTIES, REFUSED_PROPERTIES, wrap } from './wire-values.ts';

const read = (raw: Buffer) => deliveryFromAmqp({ lockToken: 'token', raw }, 'orders');
const id = (value: Buffer) => read(aMessage({ properties: [value] })).messageId;

test('reads a delivery from the bytes alone, with its sequence number exact beyond 2^53', () => {
  const raw = aMessage({
    header: [wrap('boolean', true), wrap('ubyte', 7), wrap('uint', 60_000), undefined, wrap('uint', 3)],
    properties: [
      wrap('string', 'A'),
      ...Array<undefined>(5).fill(undefined),
      wrap('symbol', 'application/json'),
      wrap('symbol', 'gzip'),
      undefined,
      undefined,
      wrap('string', 'session'),
    ],
    applicationProperties: [[wrap('string', 'priority'), wrap('long', 2)]],
    body: [data('{"a":1}')],
  });

  expect(read(raw)).toEqual({
    entity: 'orders',
    messageId: 'A',
    sequenceNumber: '9007199254740993',
    enqueuedUtc: ENQUEUED_UTC,
    lockedUntilUtc: ENQUEUED_UTC + 30_000,
    deliveryCount: 3,
    lockToken: 'token',
    contentType: 'application/json',
    contentEncoding: 'gzip',
    sessionId: 'session',
    expiresUtc: ENQUEUED_UTC + 60_000,
    body: { kind: 'data', bytes: Buffer.from('{"a":1}') },
    properties: new Map([['priority', { type: 'long', value: 2n }]]),
    raw,
  });
});

test('reads a message that has nothing but what the broker writes', () => {
  const raw = aMessage({ body: [] });

  expect(read(raw)).toEqual({
    entity: 'orders',
    messageId: '',
    sequenceNumber: '9007199254740993',
    enqueuedUtc: ENQUEUED_UTC,
    lockedUntilUtc: ENQUEUED_UTC + 30_000,
    deliveryCount: 1,
    lockToken: 'token',
    contentType: undefined,
    contentEncoding: undefined,
    sessionId: undefined,
    expiresUtc: undefined,
    body: { kind: 'absent' },
    properties: new Map(),
    raw,
  });
});

test.each(PROPERTIES)('shows a property of type %s with its type and exact value', (_name, bytes, shown) => {
  const raw = aMessage({ applicationProperties: [[wrap('string', 'own'), bytes]] });

  expect(read(raw).properties).toEqual(new Map([['own', shown]]));
});

test.each(REFUSED_PROPERTIES)('shows a property that is a %s as its bytes', (_name, bytes) => {
  const raw = aMessage({ applicationProperties: [[wrap('string', 'own'), bytes]] });

  expect(read(raw).properties).toEqual(new Map([['own', { type: 'other', value: bytes }]]));
});

test('keeps property keys apart that differ in case only, and those that are names of an object', () => {
  const keys = ['Tenant', 'tenant', '__proto__', 'constructor'];
  const raw = aMessage({
    applicationProperties: keys.map((key, at) => [wrap('string', key), wrap('int', at)] as const),
  });

  expect([...read(raw).properties]).toEqual(keys.map((key, at) => [key, { type: 'int', value: at }]));
});

// B and design section 5: ids that only look alike stay apart.
test('maps message ids of every type to distinct, stable strings', () => {
  const ids = [
    [wrap('string', 'order-1'), 'order-1'],
    [wrap('ulong', 5), 'ulong:5'],
    [hex('80 ffffffffffffffff'), 'ulong:18446744073709551615'],
    [wrap('string', '5'), '5'],
    [wrap('string', 'ulong:5'), 'string:ulong:5'],
    [wrap('string', 'string:ulong:5'), 'string:string:ulong:5'],
    [wrap('int', 5), 'int:5'],
    [wrap('string', 'int:5'), 'string:int:5'],
    [wrap('long', 5), 'long:5'],
    [wrap('uuid', Buffer.alloc(16, 0xab)), 'uuid:abababab-abab-abab-abab-abababababab'],
    [wrap('string', 'abababab-abab-abab-abab-abababababab'), 'abababab-abab-abab-abab-abababababab'],
    [wrap('binary', Buffer.alloc(16, 0xab)), 'binary:abababababababababababababababab'],
    [wrap('symbol', 'order-1'), 'symbol:order-1'],
    [hex('40'), ''],
  ] as const;

  expect(ids.map(([bytes]) => id(bytes))).toEqual(ids.map(([, text]) => text));
  expect(new Set(ids.map(([, text]) => text)).size).toBe(ids.length);
});

test.each([
  ['none', undefined, undefined, undefined],
  ['0, which some senders mean as none', wrap('uint', 0), undefined, undefined],
  ['a minute', wrap('uint', 60_000), wrap('timestamp', 1), ENQUEUED_UTC + 60_000],
  [
    'more than a header holds, by the absolute time',
    hex('70 ffffffff'),
    wrap('timestamp', ENQUEUED_UTC + 6e9),
    ENQUEUED_UTC + 6e9,
  ],
  ['more than a header holds, and no absolute time', hex('70 ffffffff'), undefined, undefined],
  ['until the end of time', hex('70 ffffffff'), wrap('timestamp', 253_402_300_799_999), undefined],
])('takes a time to live of %s as such', (_name, timeToLive, absoluteExpiryTime, expiresUtc) => {
  const raw = aMessage({
    header: [undefined, undefined, timeToLive],
    properties: [...Array<undefined>(8).fill(undefined), absoluteExpiryTime],
  });

  expect(read(raw).expiresUtc).toBe(expiresUtc);
});

test.each([
  [undefined, 1],
  [wrap('uint', 0), 1],
  [wrap('uint', 1), 1],
  [wrap('uint', 9), 9],
])('counts deliveries from 1', (count, expected) => {
  const header = [undefined, undefined, undefined, undefined, count];

  expect(read(aMessage({ header })).deliveryCount).toBe(expected);
});

test('takes sections whose descriptors are names, and sections that are null', () => {
  const named = Buffer.concat([
    aMessage({ body: [] }),
    hex('00'),
    wrap('symbol', 'amqp:properties:list'),
    hex('c0 04 01 a1 01 41'),
    hex('00 53 74 40'),
    hex('00'),
    wrap('symbol', 'amqp:data:binary'),
    wrap('binary', Buffer.from('x')),
  ]);

  const { messageId, properties, body } = read(named);

  expect({ messageId, properties, body }).toEqual({
    messageId: 'A',
    properties: new Map(),
    body: { kind: 'data', bytes: Buffer.from('x') },
  });
});

test.each([
  ['a number that is none', '53 6f'],
  ['a name that is none', 'a3 01 78'],
  ['a type that is none', '54 75'],
])('refuses a section that is described by %s', (_name, descriptor) => {
  expect(() => read(Buffer.concat([aMessage(), hex(`00 ${descriptor} 40`)]))).toThrow(
    'no section of an AMQP message is described as at byte',
  );
});

test('refuses a message without the annotations that only the broker writes', () => {
  expect(() => read(data('{}'))).toThrow(
    new TypeError('expected the annotations x-opt-sequence-number and x-opt-enqueued-time of a received message'),
  );
});

test('splits binding data into the lock token, from the byte order of .NET, and the message', () => {
  const content = Buffer.concat([hex('33221100 5544 7766 8899aabbccddeeff'), Buffer.from('message')]);

  expect(splitBindingData(content)).toEqual({
    lockToken: '00112233-4455-6677-8899-aabbccddeeff',
    raw: Buffer.from('message'),
  });
});
