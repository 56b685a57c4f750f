import type { AmqpType, PropertyValue } from '../../rules/delivery.ts';
import { contentOf } from './amqp-encoding.ts';

type Content = PropertyValue['value'];
type Decoder = readonly [type: AmqpType, decode: (bytes: Buffer) => Content];

const text = (bytes: Buffer): string => contentOf(bytes)?.toString('utf8') ?? '';
const content = (bytes: Buffer): Buffer => contentOf(bytes) ?? bytes;
const behindConstructor = (bytes: Buffer): Buffer => bytes.subarray(1);

/** The scalar types by constructor (AMQP 1.0, part 1, section 1.6). Integers of 64 bits are exact. */
const DECODERS: ReadonlyMap<number, Decoder> = new Map<number, Decoder>([
  [0x40, ['null', () => null]],
  [0x41, ['boolean', () => true]],
  [0x42, ['boolean', () => false]],
  [0x56, ['boolean', (bytes) => bytes[1] !== 0]],
  [0x50, ['ubyte', (bytes) => bytes.readUInt8(1)]],
  [0x60, ['ushort', (bytes) => bytes.readUInt16BE(1)]],
  [0x70, ['uint', (bytes) => bytes.readUInt32BE(1)]],
  [0x52, ['uint', (bytes) => bytes.readUInt8(1)]],
  [0x43, ['uint', () => 0]],
  [0x80, ['ulong', (bytes) => bytes.readBigUInt64BE(1)]],
  [0x53, ['ulong', (bytes) => BigInt(bytes.readUInt8(1))]],
  [0x44, ['ulong', () => 0n]],
  [0x51, ['byte', (bytes) => bytes.readInt8(1)]],
  [0x61, ['short', (bytes) => bytes.readInt16BE(1)]],
  [0x71, ['int', (bytes) => bytes.readInt32BE(1)]],
  [0x54, ['int', (bytes) => bytes.readInt8(1)]],
  [0x81, ['long', (bytes) => bytes.readBigInt64BE(1)]],
  [0x55, ['long', (bytes) => BigInt(bytes.readInt8(1))]],
  [0x72, ['float', (bytes) => bytes.readFloatBE(1)]],
  [0x82, ['double', (bytes) => bytes.readDoubleBE(1)]],
  [0x74, ['decimal', behindConstructor]],
  [0x84, ['decimal', behindConstructor]],
  [0x94, ['decimal', behindConstructor]],
  [0x73, ['char', (bytes) => character(bytes.readUInt32BE(1))]],
  [0x83, ['timestamp', (bytes) => Number(bytes.readBigInt64BE(1))]],
  [0x98, ['uuid', (bytes) => uuidText(bytes.subarray(1))]],
  [0xa0, ['binary', content]],
  [0xb0, ['binary', content]],
  [0xa1, ['string', text]],
  [0xb1, ['string', text]],
  [0xa3, ['symbol', text]],
  [0xb3, ['symbol', text]],
]);

/**
 * An encoded value as a property; see {@link PropertyValue} for how each type shows. Lists, maps, arrays and described
 * values are `other`: their bytes.
 *
 * @param bytes exactly one value
 */
export function toProperty(bytes: Buffer): PropertyValue {
  const [type, decode] = DECODERS.get(bytes[0] ?? 0) ?? ['other', (all: Buffer) => all];
  return { type, value: decode(bytes) };
}

const LAST_CODE_POINT = 0x10ffff;
const REPLACEMENT = '\ufffd';

const character = (codePoint: number): string =>
  codePoint <= LAST_CODE_POINT ? String.fromCodePoint(codePoint) : REPLACEMENT;

/** Sixteen bytes in network order as 8-4-4-4-12 hexadecimal digits. */
export function uuidText(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
