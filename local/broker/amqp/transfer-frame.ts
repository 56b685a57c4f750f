/** A message that fits into one frame, with what its frame says of it. */
export type Transfer = {
  readonly channel: number;
  readonly handle: number;
  readonly deliveryId: number;
  readonly tag: Buffer;
  readonly isSettled: boolean;
  readonly payload: Buffer;
};

/** Everything of a frame but tag and payload, at most. */
const HEAD = 8 + 3 + 9 + 5 + 5 + 2 + 1 + 1;
const FIELDS = 5;

/** More bytes than the frame has, but not many more. */
export function mostBytesOf({ tag, payload }: Transfer): number {
  return HEAD + tag.length + payload.length;
}

/**
 * Writes the frame of a whole message of format 0 into `bytes` at `start` (AMQP 1.0, 2.3 and 2.7.5). The tag must be
 * shorter than 256 bytes, as the specification asks.
 *
 * @returns where the frame ends
 */
export function writeTransfer(bytes: Buffer, start: number, transfer: Transfer): number {
  const { channel, handle, deliveryId, tag, isSettled, payload } = transfer;
  let at = start + 4;
  bytes[at++] = 2; // Data offset, in words: no extended header.
  bytes[at++] = 0; // Type: AMQP.
  at = bytes.writeUInt16BE(channel, at);
  bytes[at++] = 0x00;
  bytes[at++] = 0x53;
  bytes[at++] = 0x14;
  bytes[at++] = 0xd0;
  const list = at;
  at = bytes.writeUInt32BE(FIELDS, at + 4);
  bytes[at++] = 0x70;
  at = bytes.writeUInt32BE(handle, at);
  bytes[at++] = 0x70;
  at = bytes.writeUInt32BE(deliveryId, at);
  bytes[at++] = 0xa0;
  bytes[at++] = tag.length;
  bytes.set(tag, at);
  at += tag.length;
  bytes[at++] = 0x43; // Message format: 0.
  bytes[at++] = isSettled ? 0x41 : 0x42;
  bytes.writeUInt32BE(at - list - 4, list);
  bytes.set(payload, at);
  at += payload.length;
  bytes.writeUInt32BE(at - start, start);
  return at;
}
