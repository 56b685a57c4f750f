import type { PropertyValue } from '../../rules/delivery.ts';

const NULL = Buffer.from([0x40]);
const LIST32 = 0xd0;
const MAP32 = 0xd1;
const SHORT = 255;

/** Encodes a string. Lone surrogates, which have no UTF-8, become replacement characters. */
export const encodeString = (value: string): Buffer => variable(0xa1, 0xb1, Buffer.from(value, 'utf8'));
/** Encodes a symbol of ASCII characters. */
export const encodeSymbol = (value: string): Buffer => variable(0xa3, 0xb3, Buffer.from(value, 'latin1'));
export const encodeBinary = (bytes: Buffer): Buffer => variable(0xa0, 0xb0, bytes);

function variable(shortCode: number, longCode: number, content: Buffer): Buffer {
  const isShort = content.length <= SHORT;
  const head = Buffer.alloc(isShort ? 2 : 5);
  head[0] = isShort ? shortCode : longCode;
  if (isShort) head[1] = content.length;
  else head.writeUInt32BE(content.length, 1);
  return Buffer.concat([head, content]);
}

function fixed(code: number, width: number, write: (bytes: Buffer) => void): Buffer {
  const bytes = Buffer.alloc(1 + width);
  bytes[0] = code;
  write(bytes);
  return bytes;
}

/** @throws RangeError for what no uint holds */
export const encodeUint = (value: number): Buffer => fixed(0x70, 4, (bytes) => bytes.writeUInt32BE(value, 1));
/** @param utc epoch milliseconds, rounded to whole ones */
export const encodeTimestamp = (utc: number): Buffer =>
  fixed(0x83, 8, (bytes) => bytes.writeBigInt64BE(BigInt(Math.round(utc)), 1));

/** Encodes the two types that this consumer writes itself: int, always in four bytes, and string. */
export function encodeProperty({ type, value }: PropertyValue): Buffer {
  if (type === 'int') return fixed(0x71, 4, (bytes) => bytes.writeInt32BE(Number(value), 1));
  if (type === 'string') return encodeString(String(value));
  throw new TypeError(`this consumer writes int and string properties only, got ${type}`);
}

function compound(code: number, items: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(9);
  head[0] = code;
  const size = items.reduce((sum, item) => sum + item.length, 0);
  head.writeUInt32BE(size + 4, 1);
  head.writeUInt32BE(items.length, 5);
  return Buffer.concat([head, ...items]);
}

/** Encodes a list of items that are encoded already; undefined becomes null. */
export const encodeList = (items: readonly (Buffer | undefined)[]): Buffer =>
  compound(
    LIST32,
    items.map((item) => item ?? NULL),
  );
/** Encodes a map of keys and values that are encoded already, alternating. */
export const encodeMap = (keysAndValues: readonly Buffer[]): Buffer => compound(MAP32, keysAndValues);
export const encodeSection = (code: number, value: Buffer): Buffer =>
  Buffer.concat([Buffer.from([0x00, 0x53, code]), value]);
