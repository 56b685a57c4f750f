import rhea from 'rhea';
import { describe, expect, test } from 'vitest';
import { encodeBatchOfOne, encodeCopy } from '../../../../functions/core/adapters/service-bus/copy-to-amqp.ts';
import { int, string } from '../../../../functions/core/rules/delivery.ts';
import { SECTION } from '../../../../local/broker/amqp/codec/sections.ts';
import {
  aCopy,
  aMessage,
  annotationsIn,
  bodyIn,
  DUE_UTC,
  data,
  fieldsIn,
  propertiesIn,
  sequence,
  value,
} from './a-message.ts';
import { hex, PROPERTIES, REFUSED_PROPERTIES, wrap } from './wire-values.ts';

const copied = (raw: Buffer, changes: Parameters<typeof aCopy>[0] = {}): Buffer =>
  Buffer.concat(encodeCopy(raw, aCopy(changes)).pieces);
const fields = (message: Buffer, code: number) => fieldsIn(message, code).map((field) => field.toString('hex'));

const NULL = '40';
const SCHEDULED = ['x-opt-scheduled-enqueue-time', wrap('timestamp', DUE_UTC).toString('hex')];

describe('the body of a copy', () => {
  const footer = hex('00 53 78 c1 07 02 a3 01 66 a1 01 78');

  test.each([
    ['one data section', [data('{"a":1}')]],
    ['data sections in a row', [data('{"a"'), data(':1}')]],
    ['a long data section', [data(Buffer.alloc(1_000, 'x'))]],
    ['an empty data section', [data('')]],
    ['bytes that are no UTF-8', [data(hex('ff fe 00'))]],
    ['a value', [value(wrap('map', { a: 1.5, b: ['x'] }))]],
    ['a null value', [value(hex('40'))]],
    ['sequences in a row', [sequence(wrap('list', [1])), sequence(hex('45'))]],
    ['no section at all', []],
    ['a footer', [data('x'), footer]],
    ['a footer before the body, as some senders write it', [footer, data('x')]],
  ])('is the same bytes: %s', (_name, body) => {
    expect(bodyIn(copied(aMessage({ body })))).toEqual(body.map((section) => section.toString('hex')));
  });
});

describe('the application properties of a copy', () => {
  test.each(PROPERTIES)('keep the type and the bytes of a %s', (_name, bytes) => {
    const raw = aMessage({ applicationProperties: [[wrap('string', 'own'), bytes]] });

    expect(propertiesIn(copied(raw))).toEqual([['own', bytes.toString('hex')]]);
  });

  // C4: a message that carries one is refused, and every try of it again.
  test.each(REFUSED_PROPERTIES)('leave a %s behind, which the service refuses', (_name, bytes) => {
    const applicationProperties = [
      [wrap('string', 'refused'), bytes],
      [wrap('string', 'own'), wrap('int', 1)],
    ] as const;

    expect(propertiesIn(copied(aMessage({ applicationProperties })))).toEqual([
      ['own', wrap('int', 1).toString('hex')],
    ]);
  });

  test('lose what is dropped or set, then end with what is set, in its order', () => {
    const applicationProperties = ['kept', 'dropped', 'retry-attempt', 'Kept'].map(
      (name) => [wrap('string', name), wrap('ubyte', 1)] as const,
    );
    const set = new Map([
      ['retry-attempt', int(1)],
      ['retry-event-id', string('größer')],
    ]);

    expect(propertiesIn(copied(aMessage({ applicationProperties }), { drop: ['dropped'], set }))).toEqual([
      ['kept', '5001'],
      ['Kept', '5001'],
      ['retry-attempt', '7100000001'],
      ['retry-event-id', wrap('string', 'größer').toString('hex')],
    ]);
  });
});

// C9: every field that a sender can set.
test('keeps every field but the message id', () => {
  const own = [
    wrap('uuid', Buffer.alloc(16, 1)),
    wrap('binary', Buffer.from('user')),
    wrap('string', 'to'),
    wrap('string', 'subject'),
    wrap('string', 'reply-to'),
    wrap('ulong', 99),
    wrap('symbol', 'application/json'),
    wrap('symbol', 'gzip'),
    wrap('timestamp', 1_767_690_000_000),
    wrap('timestamp', 1_767_603_600_000),
    wrap('string', 'session'),
    wrap('uint', 7),
    wrap('string', 'reply-to-session'),
  ];

  expect(fields(copied(aMessage({ properties: own })), SECTION.properties)).toEqual([
    wrap('string', 'A~r1~c').toString('hex'),
    ...own.slice(1).map((field) => field.toString('hex')),
  ]);
});

test('gives a message without properties a message id', () => {
  expect(fields(copied(aMessage()), SECTION.properties)).toEqual([wrap('string', 'A~r1~c').toString('hex')]);
});

describe('the header of a copy', () => {
  const header = [
    wrap('boolean', true),
    wrap('ubyte', 7),
    wrap('uint', 90_000),
    wrap('boolean', true),
    wrap('uint', 4),
  ];

  test.each([
    ['none', undefined, NULL],
    ['its rest', 1_500, '70000005dc'],
    ['more than a header holds', 6e9, '70ffffffff'],
  ])('keeps durable and priority, and has a time to live of %s', (_name, timeToLiveInMs, expected) => {
    expect(fields(copied(aMessage({ header }), { timeToLiveInMs }), SECTION.header)).toEqual(['41', '5007', expected]);
  });

  test('is empty where the message has none', () => {
    expect(fields(copied(aMessage()), SECTION.header)).toEqual([NULL, NULL, NULL]);
  });
});

describe('the annotations of a copy', () => {
  test('are those of the sender, without what the broker wrote', () => {
    const annotations = {
      'x-opt-partition-key': wrap('string', 'partition'),
      'x-opt-jms-msg-type': wrap('byte', 5),
      own: wrap('ubyte', 1),
      'x-opt-lock-token': wrap('uuid', Buffer.alloc(16, 1)),
      'x-opt-scheduled-enqueue-time': wrap('timestamp', 1),
      'x-opt-deadletter-source': wrap('string', 'elsewhere'),
      'x-opt-partition-id': wrap('short', 3),
      'x-opt-via-partition-key': wrap('string', 'via'),
    };

    expect(annotationsIn(copied(aMessage({ annotations })))).toEqual([
      ['x-opt-partition-key', wrap('string', 'partition').toString('hex')],
      ['x-opt-jms-msg-type', wrap('byte', 5).toString('hex')],
      ['own', '5001'],
      SCHEDULED,
    ]);
  });

  test('say when it is due where there are no others', () => {
    expect(annotationsIn(copied(aMessage()))).toEqual([SCHEDULED]);
  });
});

test('is a message that rhea reads', () => {
  const raw = aMessage({
    properties: [wrap('string', 'A')],
    applicationProperties: [[wrap('string', 'own'), hex('53 07')]],
  });
  const set = new Map([
    ['retry-attempt', int(1)],
    ['retry-error-message', string('x'.repeat(300))],
  ]);

  expect(rhea.message.decode(copied(raw, { set, timeToLiveInMs: 1_500 }))).toMatchObject({
    message_id: 'A~r1~c',
    ttl: 1_500,
    application_properties: { own: 7, 'retry-attempt': 1, 'retry-error-message': 'x'.repeat(300) },
    message_annotations: { 'x-opt-scheduled-enqueue-time': new Date(DUE_UTC) },
  });
});

describe('a batch of one', () => {
  test('repeats what the service routes by, around the copy as one data section', () => {
    const raw = aMessage({
      annotations: { 'x-opt-partition-key': wrap('string', 'session') },
      properties: [wrap('string', 'A'), ...Array<undefined>(9).fill(undefined), wrap('string', 'session')],
    });
    const copy = encodeCopy(raw, aCopy());

    const batch = encodeBatchOfOne(copy, 'A~r1~c');

    expect(annotationsIn(batch)).toEqual([['x-opt-partition-key', wrap('string', 'session').toString('hex')]]);
    expect(fields(batch, SECTION.properties)).toEqual([
      wrap('string', 'A~r1~c').toString('hex'),
      ...Array<string>(9).fill(NULL),
      wrap('string', 'session').toString('hex'),
    ]);
    expect(bodyIn(batch)).toEqual([data(Buffer.concat(copy.pieces)).toString('hex')]);
  });

  test('has a message id only, where there is nothing else to route by', () => {
    const copy = encodeCopy(aMessage(), aCopy());

    const batch = encodeBatchOfOne(copy, 'A~r1~c');

    expect(annotationsIn(batch)).toEqual([]);
    expect(fields(batch, SECTION.properties)).toEqual([
      wrap('string', 'A~r1~c').toString('hex'),
      ...Array<string>(10).fill(NULL),
    ]);
    expect(bodyIn(batch)).toEqual([data(Buffer.concat(copy.pieces)).toString('hex')]);
  });
});
