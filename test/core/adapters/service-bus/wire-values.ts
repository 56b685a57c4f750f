import rhea from 'rhea';
import type { PropertyValue } from '../../../../functions/core/rules/delivery.ts';

/** rhea's own codec, which the tests hold ours against; its published types leave this out. */
const { types } = rhea as unknown as {
  types: Record<string, (...value: unknown[]) => unknown> & {
    Writer: new () => { write(value: unknown): void; toBuffer(): Buffer };
  };
};

function encoded(value: unknown): Buffer {
  const writer = new types.Writer();
  writer.write(value);
  return Buffer.from(writer.toBuffer());
}

/** Bytes by their hexadecimal digits. */
export const hex = (digits: string): Buffer => Buffer.from(digits.replaceAll(' ', ''), 'hex');
/** A value of a named type, as rhea encodes it. */
export const wrap = (name: string, ...value: unknown[]): Buffer => encoded(types[`wrap_${name}`]?.(...value));

/** A described value: the descriptor, a symbol, then the value. */
export const described = (descriptor: string, value: Buffer): Buffer =>
  Buffer.concat([hex('00'), wrap('symbol', descriptor), value]);

const TIME_SPAN = described('com.microsoft:timespan', wrap('long', 600_000_000));
const DESCRIBED_TWICE = described('outer', described('inner', wrap('string', 'x')));

/** One property of each type that the service takes: its name, its bytes on the wire, and how a delivery shows it. */
export const PROPERTIES: readonly (readonly [name: string, bytes: Buffer, shown: PropertyValue])[] = [
  ['null', hex('40'), { type: 'null', value: null }],
  ['true in no byte', hex('41'), { type: 'boolean', value: true }],
  ['false in no byte', hex('42'), { type: 'boolean', value: false }],
  ['true in a byte', hex('56 01'), { type: 'boolean', value: true }],
  ['false in a byte', hex('56 00'), { type: 'boolean', value: false }],
  ['ubyte', wrap('ubyte', 200), { type: 'ubyte', value: 200 }],
  ['ushort', wrap('ushort', 60_000), { type: 'ushort', value: 60_000 }],
  ['uint', wrap('uint', 4_000_000_000), { type: 'uint', value: 4_000_000_000 }],
  ['small uint', wrap('uint', 7), { type: 'uint', value: 7 }],
  ['uint 0', wrap('uint', 0), { type: 'uint', value: 0 }],
  ['ulong', hex('80 ffffffffffffffff'), { type: 'ulong', value: 18_446_744_073_709_551_615n }],
  ['small ulong', wrap('ulong', 7), { type: 'ulong', value: 7n }],
  ['ulong 0', wrap('ulong', 0), { type: 'ulong', value: 0n }],
  ['byte', wrap('byte', -100), { type: 'byte', value: -100 }],
  ['short', wrap('short', -30_000), { type: 'short', value: -30_000 }],
  ['int', wrap('int', -2_000_000_000), { type: 'int', value: -2_000_000_000 }],
  ['small int', wrap('int', -7), { type: 'int', value: -7 }],
  ['long', hex('81 4000000000000001'), { type: 'long', value: 4_611_686_018_427_387_905n }],
  ['long just past 2^53', hex('81 0020000000000001'), { type: 'long', value: 9_007_199_254_740_993n }],
  ['negative long', hex('81 8000000000000001'), { type: 'long', value: -9_223_372_036_854_775_807n }],
  ['small long', wrap('long', -7), { type: 'long', value: -7n }],
  ['float', wrap('float', 0.5), { type: 'float', value: 0.5 }],
  ['double 3.0', wrap('double', 3), { type: 'double', value: 3 }],
  ['double NaN', wrap('double', Number.NaN), { type: 'double', value: Number.NaN }],
  ['decimal32', hex('74 22500001'), { type: 'decimal', value: hex('22500001') }],
  ['decimal64', hex('84 2230000000000001'), { type: 'decimal', value: hex('2230000000000001') }],
  ['decimal128', hex(`94 ${'2208'.repeat(8)}`), { type: 'decimal', value: hex('2208'.repeat(8)) }],
  ['char', wrap('char', 0x1f600), { type: 'char', value: '😀' }],
  ['char that is none', hex('73 00110000'), { type: 'char', value: '\ufffd' }],
  ['timestamp', wrap('timestamp', 1_767_603_600_001), { type: 'timestamp', value: 1_767_603_600_001 }],
  ['timestamp before 1970', hex('83 ffffffffffffffff'), { type: 'timestamp', value: -1 }],
  ['uuid', wrap('uuid', Buffer.alloc(16, 0xab)), { type: 'uuid', value: 'abababab-abab-abab-abab-abababababab' }],
  ['binary', wrap('binary', hex('00ff')), { type: 'binary', value: hex('00ff') }],
  ['long binary', wrap('binary', Buffer.alloc(300, 1)), { type: 'binary', value: Buffer.alloc(300, 1) }],
  ['string', wrap('string', 'größer'), { type: 'string', value: 'größer' }],
  ['long string', wrap('string', 'ü'.repeat(300)), { type: 'string', value: 'ü'.repeat(300) }],
  ['empty string', wrap('string', ''), { type: 'string', value: '' }],
  ['symbol', wrap('symbol', 'sym'), { type: 'symbol', value: 'sym' }],
  ['long symbol', wrap('symbol', 's'.repeat(300)), { type: 'symbol', value: 's'.repeat(300) }],
  // How .NET's clients send a TimeSpan.
  ['described', TIME_SPAN, { type: 'other', value: TIME_SPAN }],
  ['described twice', DESCRIBED_TWICE, { type: 'other', value: DESCRIBED_TWICE }],
];

/** What the service refuses in application properties: a message with one of these never came through it. */
export const REFUSED_PROPERTIES: readonly (readonly [name: string, bytes: Buffer])[] = [
  ['empty list', hex('45')],
  ['list', wrap('list', [1, 'x'])],
  ['short list', hex('c0 02 01 40')],
  ['map', wrap('map', { a: 1 })],
  ['short map', hex('c1 01 00')],
  ['array', wrap('array', [1, 2], 0x71)],
  ['short array', hex('e0 03 01 50 07')],
  ['described list', described('a-list', hex('45'))],
];
