const NULL = Buffer.from([0x40]);

/** An encoded null. */
export function encodedNull(): Buffer {
  return NULL;
}

/** A plain value in the AMQP type that fits it; bytes are taken for a value that is encoded already. */
export function encodedPlain(value: string | number | boolean | Uint8Array): Buffer {
  switch (typeof value) {
    case 'string':
      return encodedString(value);
    case 'boolean':
      return Buffer.from([value ? 0x41 : 0x42]);
    case 'number':
      if (Number.isSafeInteger(value)) return encodedLong(value);
      return encodedDouble(value);
    default:
      return Buffer.from(value);
  }
}

function encodedDouble(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(9);
  bytes[0] = 0x82;
  bytes.writeDoubleBE(value, 1);
  return bytes;
}

export function encodedString(text: string): Buffer {
  return variable(0xa1, 0xb1, Buffer.from(text, 'utf8'));
}

export function encodedSymbol(text: string): Buffer {
  return variable(0xa3, 0xb3, Buffer.from(text, 'ascii'));
}

/** A 64-bit signed integer; `value` must be a safe integer. */
function encodedLong(value: number): Buffer {
  return wide(0x81, value);
}

/** A list, from its encoded items. */
export function encodedList(items: readonly Buffer[]): Buffer {
  return compound(0xd0, items);
}

/** A map, from its encoded keys and values in turn. */
export function encodedMap(items: readonly Buffer[]): Buffer {
  return compound(0xd1, items);
}

/** A message section: a value described by one of the codes 0x70 to 0x78. */
export function encodedSection(code: number, value: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0x00, 0x53, code]), value]);
}

function variable(narrow: number, wideCode: number, content: Buffer): Buffer {
  if (content.length < 256) return Buffer.concat([Buffer.from([narrow, content.length]), content]);
  const head = Buffer.allocUnsafe(5);
  head[0] = wideCode;
  head.writeUInt32BE(content.length, 1);
  return Buffer.concat([head, content]);
}

function wide(code: number, value: number): Buffer {
  const bytes = Buffer.allocUnsafe(9);
  bytes[0] = code;
  bytes.writeInt32BE(Math.floor(value / 2 ** 32), 1);
  bytes.writeUInt32BE(value - Math.floor(value / 2 ** 32) * 2 ** 32, 5);
  return bytes;
}

function compound(code: number, items: readonly Buffer[]): Buffer {
  const size = items.reduce((sum, item) => sum + item.length, 0);
  const head = Buffer.allocUnsafe(9);
  head[0] = code;
  head.writeUInt32BE(size + 4, 1);
  head.writeUInt32BE(items.length, 5);
  return Buffer.concat([head, ...items], size + 9);
}
