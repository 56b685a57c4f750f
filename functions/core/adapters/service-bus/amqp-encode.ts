import type { PropertyValue } from '../../rules/delivery.ts';

/** Encoded bytes in pieces, so that a body of many kilobytes is copied once, at the end. */
export type Pieces = readonly Buffer[];

const NULL = Buffer.from([0x40]);
const LIST32 = 0xd0;
const MAP32 = 0xd1;
const SHORT = 255;

/** Encodes a string. Lone surrogates, which have no UTF-8, become replacement characters. */
export const encodeString = (value: string): Buffer => text(0xa1, 0xb1, value, 'utf8');
/** Encodes a symbol of ASCII characters. */
export const encodeSymbol = (value: string): Buffer => text(0xa3, 0xb3, value, 'latin1');

function text(shortCode: number, longCode: number, value: string, encoding: 'utf8' | 'latin1'): Buffer {
  const length = Buffer.byteLength(value, encoding);
  const headLength = length <= SHORT ? 2 : 5;
  const bytes = Buffer.allocUnsafe(headLength + length);
  writeLengthHead(bytes, shortCode, longCode, length);
  bytes.write(value, headLength, encoding);
  return bytes;
}

function lengthHead(shortCode: number, longCode: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length <= SHORT ? 2 : 5);
  writeLengthHead(bytes, shortCode, longCode, length);
  return bytes;
}

function writeLengthHead(bytes: Buffer, shortCode: number, longCode: number, length: number): void {
  bytes[0] = length <= SHORT ? shortCode : longCode;
  if (length <= SHORT) bytes[1] = length;
  else bytes.writeUInt32BE(length, 1);
}

function fixed(code: number, width: number, write: (bytes: Buffer) => void): Buffer {
  const bytes = Buffer.allocUnsafe(1 + width);
  bytes[0] = code;
  write(bytes);
  return bytes;
}

/** Encodes a uint, always in four bytes. @throws RangeError for what no uint holds */
export const encodeUint = (value: number): Buffer => fixed(0x70, 4, (bytes) => bytes.writeUInt32BE(value, 1));
/** Encodes an instant. @param utc epoch milliseconds, rounded to whole ones */
export const encodeTimestamp = (utc: number): Buffer =>
  fixed(0x83, 8, (bytes) => bytes.writeBigInt64BE(BigInt(Math.round(utc)), 1));

/** Encodes the two types that this consumer writes itself: int, always in four bytes, and string. */
export function encodeProperty({ type, value }: PropertyValue): Buffer {
  if (type === 'int') return fixed(0x71, 4, (bytes) => bytes.writeInt32BE(Number(value), 1));
  if (type === 'string') return encodeString(String(value));
  throw new TypeError(`this consumer writes int and string properties only, got ${type}`);
}

/** Encodes a binary around pieces of its content. */
export const encodeBinary = (content: Pieces): Pieces => [lengthHead(0xa0, 0xb0, sizeOf(content)), ...content];

const sizeOf = (pieces: Pieces): number => pieces.reduce((sum, { length }) => sum + length, 0);

function compound(code: number, items: Pieces): Pieces {
  const head = Buffer.allocUnsafe(9);
  head[0] = code;
  head.writeUInt32BE(sizeOf(items) + 4, 1);
  head.writeUInt32BE(items.length, 5);
  return [head, ...items];
}

/** Encodes a list of items that are encoded already; undefined, or a hole, becomes null. */
export function encodeList(items: readonly (Buffer | undefined)[]): Pieces {
  const filled: Buffer[] = [];
  for (const item of items) filled.push(item ?? NULL);
  return compound(LIST32, filled);
}
/** Encodes a map of keys and values that are encoded already, alternating. */
export const encodeMap = (keysAndValues: Pieces): Pieces => compound(MAP32, keysAndValues);
/** Descriptors of the sections, by their codes. */
const DESCRIPTORS = Array.from({ length: 256 }, (_, code) => Buffer.from([0x00, 0x53, code]));

/** Encodes a section of a message around its value. */
export const encodeSection = (code: number, value: Pieces): Pieces => [DESCRIPTORS[code] ?? NULL, ...value];
