import { expect, test } from 'vitest';
import { bodyOf } from '../../../../functions/core/adapters/service-bus/amqp-body.ts';
import { sectionsOf } from '../../../../functions/core/adapters/service-bus/amqp-sections.ts';
import { encodeCopy } from '../../../../functions/core/adapters/service-bus/copy-to-amqp.ts';
import { encodedMap } from '../../../../local/broker/amqp/codec/encode.ts';
import { aCopy, aMessage, bodyIn, data, sequence, value } from './a-message.ts';
import { described, hex, REFUSED_PROPERTIES, wrap } from './wire-values.ts';

const read = (...sections: Buffer[]) => bodyOf(sectionsOf(Buffer.concat(sections)));

// A6 and A7: each of these is another body, and stays one.
test.each([
  ['one data section', [data('{"a":1}')], { kind: 'data', bytes: Buffer.from('{"a":1}') }],
  ['data sections in a row', [data('{"a"'), data(':1}')], { kind: 'data', bytes: Buffer.from('{"a":1}') }],
  ['an empty data section', [data('')], { kind: 'data', bytes: Buffer.alloc(0) }],
  ['data that is null', [hex('00 53 75 40')], { kind: 'data', bytes: Buffer.alloc(0) }],
  ['data declared as text', [hex('00 53 75 a1 01 78')], { kind: 'data', bytes: Buffer.from('x') }],
  ['no section at all', [], { kind: 'absent' }],
  ['a footer only', [hex('00 53 78 c1 01 00')], { kind: 'absent' }],
  ['text', [value(wrap('string', '{"a":1}'))], { kind: 'value', bytes: Buffer.from('{"a":1}'), value: '{"a":1}' }],
  ['bytes', [value(wrap('binary', hex('00ff')))], { kind: 'value', bytes: hex('00ff'), value: hex('00ff') }],
  ['null', [value(hex('40'))], { kind: 'value', bytes: undefined, value: null }],
  [
    'described text',
    [value(described('d', wrap('string', 'x')))],
    { kind: 'value', bytes: Buffer.from('x'), value: 'x' },
  ],
  [
    'a sequence',
    [sequence(wrap('list', [1, 'x', null]))],
    { kind: 'sequence', bytes: undefined, value: [1, 'x', null] },
  ],
  [
    'sequences in a row',
    [sequence(wrap('list', [1])), sequence(hex('45')), sequence(wrap('list', [2]))],
    { kind: 'sequence', bytes: undefined, value: [1, 2] },
  ],
])('reads a body of %s', (_name, sections, body) => {
  expect(read(...sections)).toEqual(body);
});

test('makes plain JavaScript of a value, integers exact and objects without surprises', () => {
  const map = encodedMap([
    wrap('string', '__proto__'),
    wrap('string', 'own'),
    wrap('string', 'small'),
    wrap('long', 7),
    wrap('symbol', 'double'),
    wrap('double', 3),
    wrap('string', 'at'),
    wrap('timestamp', 1_767_603_600_000),
    wrap('string', 'uuid'),
    wrap('uuid', Buffer.alloc(16, 0xab)),
    wrap('ulong', 5),
    wrap('list', [[1, 2], { a: true }]),
  ]);
  const { value: found } = read(value(map)) as { value: object };

  expect(Object.entries(found)).toEqual([
    ['5', [[1, 2], { a: true }]],
    ['__proto__', 'own'],
    ['small', 7],
    ['double', 3],
    ['at', new Date(1_767_603_600_000)],
    ['uuid', 'abababab-abab-abab-abab-abababababab'],
  ]);
  expect(Object.getPrototypeOf(found)).toBe(Object.prototype);
});

test.each([
  ['the last exact number', hex('81 001fffffffffffff'), Number.MAX_SAFE_INTEGER],
  ['the first that is none', hex('81 0020000000000000'), 9_007_199_254_740_992n],
  ['one past 2^53', hex('81 0020000000000001'), 9_007_199_254_740_993n],
  ['the greatest', hex('80 ffffffffffffffff'), 18_446_744_073_709_551_615n],
  ['a negative one', hex('81 ffffffffffffffff'), -1],
])('gives an integer of 64 bits exactly: %s', (_name, bytes, expected) => {
  expect(read(value(bytes))).toEqual({ kind: 'value', bytes: undefined, value: expected });
});

test.each([
  ['ints', wrap('array', [1, -2], 0x71), [1, -2]],
  ['strings', wrap('array', ['a', 'b'], 0xa1), ['a', 'b']],
  ['nothing', hex('e0 02 00 71'), []],
  ['values that take no bytes', hex('e0 02 03 41'), [true, true, true]],
  ['described values', hex('f0 0000000b 00000002 00 a3 01 64 50 07 08'), [7, 8]],
  ['lists', hex('e0 08 02 c0 02 01 41 02 01 42'), [[true], [false]]],
])('reads an array of %s', (_name, bytes, expected) => {
  expect(read(value(bytes))).toEqual({ kind: 'value', bytes: undefined, value: expected });
});

test.each(REFUSED_PROPERTIES)('reads a value that is a %s', (_name, bytes) => {
  expect(read(value(bytes))).toMatchObject({ kind: 'value', bytes: undefined, value: expect.any(Object) });
});

test.each([
  [
    'an array that claims four thousand million elements of no bytes',
    hex('f0 00000005 ffffffff 40'),
    'an AMQP array of 4294967295 elements that take no bytes',
  ],
  [
    'an array that claims more elements than there are bytes',
    hex('f0 00000006 ffffffff 50 07'),
    'an AMQP array is cut off',
  ],
  ['a list that claims more items than there are bytes', hex('d0 00000005 ffffffff 40'), 'the AMQP message is cut off'],
  ['a map with a key and no value', hex('c1 02 01 40'), 'expected keys and values in an AMQP map, got 1 items'],
])('says at once that it cannot read %s, and copies its bytes', (_name, bytes, problem) => {
  expect(read(value(bytes))).toEqual({ kind: 'unreadable', problem });
  const raw = aMessage({ body: [value(bytes)] });
  expect(bodyIn(Buffer.concat(encodeCopy(raw, aCopy()).pieces))).toEqual(bodyIn(raw));
});

test('reads lists nested deeply, and no more of those nested without end', () => {
  expect(read(value(Buffer.concat(nestedLists(100)))).kind).toBe('value');
  expect(read(value(Buffer.concat(nestedLists(50_000))))).toEqual({
    kind: 'unreadable',
    problem: 'an AMQP value is nested deeper than 200',
  });
});

test('takes descriptors nested without end, which cost no stack', () => {
  const nested = Buffer.concat([Buffer.alloc(100_000), Buffer.alloc(100_001, 0x40)]);

  expect(read(value(nested))).toEqual({ kind: 'value', bytes: undefined, value: null });
});

/** Lists of one list each, the outermost first. */
function nestedLists(depth: number): Buffer[] {
  return Array.from({ length: depth }, (_, at) => {
    const head = Buffer.alloc(9);
    head[0] = 0xd0;
    head.writeUInt32BE(4 + (depth - at - 1) * 9, 1);
    head.writeUInt32BE(at === depth - 1 ? 0 : 1, 5);
    return head;
  });
}
