const HEADER_CODE = 0x70;
const HEADER_SYMBOL = 'amqp:header:list';
const DELIVERY_COUNT_INDEX = 4;
const NULL = Buffer.from([0x40]);

/**
 * The same AMQP message with the header's delivery-count one higher, every other byte as it was.
 *
 * The wire counts earlier deliveries (0 at first), .NET counts this one too, and the real host sends what .NET counted.
 * A message without a header gets one.
 *
 * @throws Error when the bytes do not begin with an AMQP section.
 */
export function withDeliveryCountRaised(message: Buffer): Buffer {
  const section = describedAt(message, 0);
  if (!section.isHeader) return Buffer.concat([header(deliveryCountField([])), message]);
  const fields = listItems(message, section.valueOffset);
  return Buffer.concat([header(deliveryCountField(fields)), message.subarray(endOf(message, section.valueOffset))]);
}

function deliveryCountField(fields: readonly Buffer[]): Buffer[] {
  const raised = [...fields];
  while (raised.length <= DELIVERY_COUNT_INDEX) raised.push(NULL);
  raised[DELIVERY_COUNT_INDEX] = encodeUint(decodeUint(raised[DELIVERY_COUNT_INDEX] ?? NULL) + 1);
  return raised;
}

function header(fields: readonly Buffer[]): Buffer {
  const body = Buffer.concat(fields);
  const list =
    body.length + 1 <= 0xff
      ? Buffer.from([0xc0, body.length + 1, fields.length])
      : Buffer.concat([Buffer.from([0xd0]), uint32(body.length + 4), uint32(fields.length)]);
  return Buffer.concat([Buffer.from([0x00, 0x53, HEADER_CODE]), list, body]);
}

function describedAt(bytes: Buffer, offset: number): { isHeader: boolean; valueOffset: number } {
  if (bytes[offset] !== 0x00)
    throw new Error(`Expected an AMQP section at byte ${offset}, got 0x${bytes[offset]?.toString(16)}.`);
  const descriptor = bytes.subarray(offset + 1, endOf(bytes, offset + 1));
  const isHeader =
    (descriptor[0] === 0x53 && descriptor[1] === HEADER_CODE) ||
    (descriptor[0] === 0x80 && descriptor.readBigUInt64BE(1) === BigInt(HEADER_CODE)) ||
    (descriptor[0] === 0xa3 && descriptor.toString('latin1', 2) === HEADER_SYMBOL);
  return { isHeader, valueOffset: offset + 1 + descriptor.length };
}

function listItems(bytes: Buffer, offset: number): Buffer[] {
  const code = bytes[offset];
  if (code === 0x45) return [];
  const [count, first] =
    code === 0xc0 ? [bytes.readUInt8(offset + 2), offset + 3] : [bytes.readUInt32BE(offset + 5), offset + 9];
  const items: Buffer[] = [];
  for (let position = first; items.length < count; ) {
    const end = endOf(bytes, position);
    items.push(bytes.subarray(position, end));
    position = end;
  }
  return items;
}

/** Where the AMQP value that starts here ends. The high half of the constructor says how its size is given. */
function endOf(bytes: Buffer, offset: number): number {
  const code = bytes.readUInt8(offset);
  const value = offset + 1;
  switch (code >> 4) {
    case 0x0:
      return endOf(bytes, endOf(bytes, value));
    case 0x4:
      return value;
    case 0x5:
    case 0x6:
    case 0x7:
    case 0x8:
    case 0x9:
      return value + 2 ** ((code >> 4) - 5);
    case 0xa:
    case 0xc:
    case 0xe:
      return value + 1 + bytes.readUInt8(value);
    case 0xb:
    case 0xd:
    case 0xf:
      return value + 4 + bytes.readUInt32BE(value);
    default:
      throw new Error(`Unknown AMQP constructor 0x${code.toString(16)} at byte ${offset}.`);
  }
}

function decodeUint(field: Buffer): number {
  if (field[0] === 0x70) return field.readUInt32BE(1);
  return field[0] === 0x52 ? field.readUInt8(1) : 0;
}

function encodeUint(value: number): Buffer {
  return value <= 0xff ? Buffer.from([0x52, value]) : Buffer.concat([Buffer.from([0x70]), uint32(value)]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
