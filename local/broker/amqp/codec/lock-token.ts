/** The 16 bytes of a UUID in the order of its text, which is the order of AMQP's uuid type. */
export function uuidBytes(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex');
}

/** The text of a UUID from its 16 bytes in the order of AMQP's uuid type. */
export function uuidText(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** A lock token as a delivery tag: the first three groups of the UUID stand reversed, as .NET lays out a GUID. */
export function deliveryTag(lockToken: string): Buffer {
  const bytes = uuidBytes(lockToken);
  swap(bytes, 0, 3);
  swap(bytes, 1, 2);
  swap(bytes, 4, 5);
  swap(bytes, 6, 7);
  return bytes;
}

function swap(bytes: Buffer, one: number, other: number): void {
  const byte = bytes[one] as number;
  bytes[one] = bytes[other] as number;
  bytes[other] = byte;
}
