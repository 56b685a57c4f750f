import { createRequire } from 'node:module';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mostBytesOf, type Transfer, writeTransfer } from '../../../../local/broker/amqp/transfer-frame.ts';
import { readTransfer } from '../../../../local/broker/amqp/transfer-reader.ts';

type Fields = Record<string, unknown>;
type Frame = { channel: number; type: number; performative: Fields; payload?: Buffer };
/** rhea's own reading and writing of frames, to compare with. */
const frames: {
  transfer(fields: Fields): Fields;
  amqp_frame(channel: number, performative: Fields, payload: Buffer): Frame;
  write_frame(frame: Frame): Buffer;
  read_frame(bytes: Buffer): Frame;
} = createRequire(import.meta.url)('rhea/lib/frames.js');

const uint = fc.oneof(fc.constantFrom(0, 1, 255, 256, 2 ** 32 - 1), fc.nat());
const bytes = (maxLength: number) => fc.uint8Array({ minLength: 1, maxLength }).map((values) => Buffer.from(values));
const someFields = fc.record(
  {
    handle: uint,
    delivery_id: uint,
    delivery_tag: bytes(32),
    message_format: uint,
    settled: fc.boolean(),
    more: fc.boolean(),
  },
  { requiredKeys: ['handle'] },
);

function rheaFrame(fields: Fields, channel = 3, payload = Buffer.from('payload')): Buffer {
  return frames.write_frame(frames.amqp_frame(channel, frames.transfer(fields), payload));
}

/** What rhea reads, by the names that {@link readTransfer} gives. */
function rheaReading(frame: Buffer) {
  const { channel, performative, payload } = frames.read_frame(frame);
  const names = ['handle', 'delivery_id', 'delivery_tag', 'message_format', 'settled', 'more'];
  const read = Object.fromEntries(names.map((name) => [name, performative[name] ?? undefined]));
  return { channel, performative: read, payload };
}

test('rhea reads what is written, and the frame takes no more bytes than were set aside', () => {
  const transfers = fc.record({
    channel: fc.nat(65_535),
    handle: uint,
    deliveryId: uint,
    tag: bytes(255),
    isSettled: fc.boolean(),
    payload: bytes(500),
  });
  fc.assert(
    fc.property(transfers, fc.nat(20), (transfer: Transfer, start) => {
      const memory = Buffer.alloc(start + mostBytesOf(transfer));
      const end = writeTransfer(memory, start, transfer);
      expect(end).toBeLessThanOrEqual(memory.length);
      const { channel, handle, deliveryId, tag, isSettled, payload } = transfer;
      const performative = {
        handle,
        delivery_id: deliveryId,
        delivery_tag: tag,
        message_format: 0,
        settled: isSettled,
      };
      expect(rheaReading(memory.subarray(start, end))).toEqual({ channel, performative, payload });
    }),
  );
});

test('reads what rhea writes as rhea reads it, whatever stands around it', () => {
  fc.assert(
    fc.property(someFields, bytes(300), fc.nat(20), (fields, payload, start) => {
      const frame = rheaFrame(fields, 3, payload);
      const among = Buffer.concat([Buffer.alloc(start, 0xff), frame, Buffer.alloc(9, 0xff)]);
      expect(readTransfer(among, start, frame.length)).toEqual(rheaReading(frame));
    }),
  );
});

test.each([
  ['a transfer that is aborted', rheaFrame({ handle: 0, delivery_id: 1, aborted: true })],
  ['a transfer without a payload', rheaFrame({ handle: 0, delivery_id: 1 }, 0, Buffer.alloc(0))],
  ['a frame without anything', Buffer.from([0, 0, 0, 8, 2, 0, 0, 0])],
])('leaves %s to rhea', (_name, frame) => {
  expect(readTransfer(frame, 0, frame.length)).toBeUndefined();
});

test('leaves damaged frames to rhea, or reads them as rhea does', () => {
  const frame = rheaFrame({ handle: 1, delivery_id: 2, delivery_tag: Buffer.from('tag'), settled: false, more: false });
  fc.assert(
    fc.property(fc.integer({ min: 4, max: frame.length - 1 }), fc.nat(255), (place, byte) => {
      const damaged = Buffer.from(frame);
      damaged[place] = byte;
      const read = readTransfer(damaged, 0, damaged.length);
      if (read !== undefined) expect(read).toEqual(rheaReading(damaged));
    }),
    { numRuns: 2000 },
  );
});
