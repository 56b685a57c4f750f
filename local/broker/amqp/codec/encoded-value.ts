/** Bytes that are not what the AMQP type system allows. */
export class MalformedMessageError extends Error {
  override readonly name = 'MalformedMessageError';
}

/**
 * Where the encoded value that starts at `offset` ends, without decoding it. The upper half of a constructor byte says
 * how wide the value is (AMQP 1.0, 1.2).
 *
 * @throws MalformedMessageError when the value does not fit into `bytes`
 */
export function endOfValue(bytes: Buffer, offset: number): number {
  const code = byteAt(bytes, offset);
  if (code === 0x00) return endOfValue(bytes, endOfValue(bytes, offset + 1));
  const end = offset + 1 + widthOf(bytes, code, offset + 1);
  if (end > bytes.length) throw new MalformedMessageError(`A value at byte ${offset} reaches past the end.`);
  return end;
}

function widthOf(bytes: Buffer, code: number, offset: number): number {
  switch (code >> 4) {
    case 0x4:
      return 0;
    case 0x5:
      return 1;
    case 0x6:
      return 2;
    case 0x7:
      return 4;
    case 0x8:
      return 8;
    case 0x9:
      return 16;
    case 0xa:
    case 0xc:
    case 0xe:
      return 1 + byteAt(bytes, offset);
    case 0xb:
    case 0xd:
    case 0xf:
      return 4 + wordAt(bytes, offset);
    default:
      throw new MalformedMessageError(`No AMQP type has the constructor 0x${code.toString(16)}.`);
  }
}

/** The encoded values inside the list or map that starts at `offset`; none for null and for an empty list. */
export function itemsOf(bytes: Buffer, offset: number): Buffer[] {
  const code = byteAt(bytes, offset);
  if (code === 0x40 || code === 0x45) return [];
  const wide = code === 0xd0 || code === 0xd1;
  if (!wide && code !== 0xc0 && code !== 0xc1) {
    throw new MalformedMessageError(`Expected a list or a map, got the constructor 0x${code.toString(16)}.`);
  }
  const count = wide ? wordAt(bytes, offset + 5) : byteAt(bytes, offset + 2);
  const items: Buffer[] = [];
  let position = offset + (wide ? 9 : 3);
  for (let index = 0; index < count; index++) {
    const end = endOfValue(bytes, position);
    items.push(bytes.subarray(position, end));
    position = end;
  }
  return items;
}

/** The text of an encoded string or symbol, `undefined` for any other type. */
export function textOf(value: Buffer): string | undefined {
  switch (value[0]) {
    case 0xa1:
    case 0xa3:
      return value.toString('utf8', 2);
    case 0xb1:
    case 0xb3:
      return value.toString('utf8', 5);
    default:
      return undefined;
  }
}

/** The content of an encoded binary, `undefined` for any other type. */
export function binaryOf(value: Buffer): Buffer | undefined {
  switch (value[0]) {
    case 0xa0:
      return value.subarray(2);
    case 0xb0:
      return value.subarray(5);
    default:
      return undefined;
  }
}

function byteAt(bytes: Buffer, offset: number): number {
  const byte = bytes[offset];
  if (byte === undefined) throw new MalformedMessageError('The message ends in the middle of a value.');
  return byte;
}

function wordAt(bytes: Buffer, offset: number): number {
  if (offset + 4 > bytes.length) throw new MalformedMessageError('The message ends in the middle of a value.');
  return bytes.readUInt32BE(offset);
}
