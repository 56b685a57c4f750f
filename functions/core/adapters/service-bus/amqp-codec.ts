import rhea from 'rhea';
import type { AmqpType, PropertyValue } from '../../rules/delivery.ts';

/** A value as rhea reads it: with its type, so that nothing is lost between reading and writing. */
export interface Typed {
  readonly type: { readonly name: string; readonly typecode: number };
  readonly value: unknown;
}

interface Reader {
  position: number;
  read(): Typed;
  read_constructor(): { readonly typecode: number; readonly descriptor?: Typed };
}

// rhea's declarations leave these out.
const { types } = rhea as unknown as {
  types: {
    Reader: new (buffer: Buffer) => Reader;
    Writer: new () => { write(value: Typed): void; toBuffer(): Buffer };
    Timestamp(value: number): Typed;
    Uint(value: number): Typed;
    wrap_int(value: number): Typed;
    wrap_string(value: string): Typed;
  };
};

const MAP8 = 0xc1;
const MAP32 = 0xd1;
const LIST0 = 0x45;
const LIST8 = 0xc0;
const LIST32 = 0xd0;
const NULL = Buffer.from([0x40]);

/** One section of an encoded message: its descriptor code, and where it stands. */
export interface Section {
  readonly code: number;
  /** The whole section, descriptor included. */
  readonly bytes: Buffer;
  /** The section's value without its descriptor. */
  readonly value: Buffer;
}

/** Cuts an encoded message into its sections, in order. @throws RangeError or TypeError on bytes that are no AMQP message */
export function sectionsOf(message: Buffer): Section[] {
  const reader = new types.Reader(message);
  const sections: Section[] = [];
  while (reader.position < message.length) {
    const start = reader.position;
    if (message[start] !== 0x00)
      throw new TypeError(`expected an AMQP section at byte ${start}, got 0x${message[start]?.toString(16)}`);
    reader.position += 1;
    const descriptor = reader.read();
    const valueStart = reader.position;
    reader.read();
    if (reader.position > message.length) throw new RangeError('the AMQP message is cut off');
    sections.push({
      code: Number(descriptor.value),
      bytes: message.subarray(start, reader.position),
      value: message.subarray(valueStart, reader.position),
    });
  }
  return sections;
}

/** Reads one value. */
export const readValue = (bytes: Buffer): Typed => new types.Reader(bytes).read();

/** The items of an encoded list or the keys and values of an encoded map, each as read and as the bytes it stood in. */
export function itemsOf(compound: Buffer): { readonly typed: Typed; readonly bytes: Buffer }[] {
  const code = compound[0];
  if (code === LIST0) return [];
  const wide = code === MAP32 || code === LIST32;
  if (!wide && code !== MAP8 && code !== LIST8)
    throw new TypeError(`expected an AMQP list or map, got type 0x${code?.toString(16)}`);
  const count = wide ? compound.readUInt32BE(5) : compound.readUInt8(2);
  const reader = new types.Reader(compound);
  reader.position = wide ? 9 : 3;
  return Array.from({ length: count }, () => {
    const start = reader.position;
    const typed = reader.read();
    return { typed, bytes: compound.subarray(start, reader.position) };
  });
}

function write(value: Typed): Buffer {
  const writer = new types.Writer();
  writer.write(value);
  return Buffer.from(writer.toBuffer());
}

export const encodeString = (value: string): Buffer => write(types.wrap_string(value));
export const encodeUint = (value: number): Buffer => write(types.Uint(value));
export const encodeTimestamp = (utc: number): Buffer => write(types.Timestamp(utc));

/** Encodes the two types that this consumer writes itself: int and string. */
export function encodeProperty({ type, value }: PropertyValue): Buffer {
  if (type === 'int') return write(types.wrap_int(Number(value)));
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

export const encodeList = (items: readonly (Buffer | undefined)[]): Buffer =>
  compound(
    LIST32,
    items.map((item) => item ?? NULL),
  );
/** Encodes a map of keys and values that are encoded already, alternating. */
export const encodeMap = (keysAndValues: readonly Buffer[]): Buffer => compound(MAP32, keysAndValues);
export const encodeSection = (code: number, value: Buffer): Buffer =>
  Buffer.concat([Buffer.from([0x00, 0x53, code]), value]);

/** A symbol of at most 255 ASCII characters. */
export function encodeSymbol(value: string): Buffer {
  return Buffer.concat([Buffer.from([0xa3, value.length]), Buffer.from(value, 'ascii')]);
}

/** A data section's value: binary. */
export function encodeBinary(bytes: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head[0] = 0xb0;
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

const TYPE_NAMES: Readonly<Record<string, AmqpType>> = {
  Null: 'null',
  Boolean: 'boolean',
  True: 'boolean',
  False: 'boolean',
  Ubyte: 'ubyte',
  Ushort: 'ushort',
  Uint: 'uint',
  SmallUint: 'uint',
  Uint0: 'uint',
  Ulong: 'ulong',
  SmallUlong: 'ulong',
  Ulong0: 'ulong',
  Byte: 'byte',
  Short: 'short',
  Int: 'int',
  SmallInt: 'int',
  Long: 'long',
  SmallLong: 'long',
  Float: 'float',
  Double: 'double',
  Decimal32: 'decimal',
  Decimal64: 'decimal',
  Decimal128: 'decimal',
  CharUTF32: 'char',
  Timestamp: 'timestamp',
  Uuid: 'uuid',
  Vbin8: 'binary',
  Vbin32: 'binary',
  Str8: 'string',
  Str32: 'string',
  Sym8: 'symbol',
  Sym32: 'symbol',
};

/** A read value with its exact content; see {@link PropertyValue} for how each type shows. */
export function toProperty(typed: Typed, bytes: Buffer): PropertyValue {
  const type = TYPE_NAMES[typed.type.name] ?? 'other';
  const { value } = typed;
  switch (type) {
    case 'long':
      return { type, value: exactInteger(value, true) };
    case 'ulong':
      return { type, value: exactInteger(value, false) };
    case 'timestamp':
      return { type, value: bytes.length === 9 ? Number(bytes.readBigInt64BE(1)) : Number(value) };
    case 'boolean':
      return { type, value: Boolean(value) };
    case 'char':
      return { type, value: String.fromCodePoint(Number(value)) };
    case 'uuid':
      return { type, value: uuidText(value as Buffer) };
    case 'other':
      return { type, value: bytes };
    default:
      return { type, value: value as PropertyValue['value'] };
  }
}

/** rhea gives the eight bytes where a double would round. */
function exactInteger(value: unknown, signed: boolean): bigint {
  if (!Buffer.isBuffer(value)) return BigInt(value as number);
  return signed ? value.readBigInt64BE(0) : value.readBigUInt64BE(0);
}

/** Sixteen bytes in network order as 8-4-4-4-12 hexadecimal digits. */
export function uuidText(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
