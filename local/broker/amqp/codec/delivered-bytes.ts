import type { Properties } from '../../model/content.ts';
import type { StoredMessage } from '../../model/stored-message.ts';
import { ByteWriter } from './byte-writer.ts';
import { encodedNull, encodedPlain, encodedString, encodedSymbol } from './encode.ts';
import { textOf } from './encoded-value.ts';
import { itemsOfSection, SECTION, sectionsOf } from './sections.ts';

const NULL = encodedNull();
const writer = new ByteWriter();
const LARGEST_UINT = 2 ** 32 - 1;
const KEY = {
  sequenceNumber: encodedSymbol('x-opt-sequence-number'),
  enqueueSequenceNumber: encodedSymbol('x-opt-enqueue-sequence-number'),
  enqueuedTime: encodedSymbol('x-opt-enqueued-time'),
  lockedUntil: encodedSymbol('x-opt-locked-until'),
  messageState: encodedSymbol('x-opt-message-state'),
  deadLetterSource: encodedSymbol('x-opt-deadletter-source'),
};
const BROKER_KEYS = new Set(Object.values(KEY).map((key) => textOf(key)));
const STATE_CODE = { active: 0, locked: 0, gone: 0, deferred: 1, scheduled: 2 } as const;

/** How a message is shown to a receiver. */
export type DeliveryMarks = {
  /** Earlier deliveries that failed: 0 on the first. */
  readonly deliveryCount: number;
  /** End of the lock in epoch milliseconds; `undefined` when it is not locked for this reader. */
  readonly lockedUntilUtc: number | undefined;
};

/**
 * The bytes that a receiver gets. The header, the broker's annotations and the properties added by settlements are
 * spliced in; every other byte, the body above all, is the sender's own. Decoding and encoding again would lose the types.
 */
export function deliveredBytes(message: StoredMessage, marks: DeliveryMarks): Buffer {
  const bytes = message.content.bytes as Buffer;
  const sections = sectionsOf(bytes);
  writer.reset();
  writeHeader(itemsOfSection(bytes, sections, SECTION.header), message, marks);
  writeAnnotations(itemsOfSection(bytes, sections, SECTION.messageAnnotations), message, marks);
  const { properties } = message;
  for (const { code, start, end } of sections) {
    if (code < SECTION.properties || (properties !== undefined && code === SECTION.applicationProperties)) continue;
    writer.raw(bytes.subarray(start, end));
    // What is told by a settlement stands right behind the properties, where application properties belong.
    if (properties !== undefined && code === SECTION.properties) {
      writeProperties(itemsOfSection(bytes, sections, SECTION.applicationProperties), properties);
    }
  }
  return writer.copy();
}

/** Fields of a header in their order: durable, priority, time to live, first acquirer, delivery count. */
function writeHeader(sent: Buffer[], { timeToLiveInMs }: StoredMessage, { deliveryCount }: DeliveryMarks): void {
  writer.section(SECTION.header);
  const start = writer.beginList();
  writer.raw(sent[0] ?? NULL);
  writer.raw(sent[1] ?? NULL);
  if (timeToLiveInMs <= LARGEST_UINT) writer.uint(timeToLiveInMs);
  else writer.null();
  writer.null();
  writer.uint(deliveryCount);
  writer.end(start, 5);
}

function writeAnnotations(sent: Buffer[], message: StoredMessage, { lockedUntilUtc }: DeliveryMarks): void {
  writer.section(SECTION.messageAnnotations);
  const start = writer.beginMap();
  let count = 8;
  for (let index = 0; index + 1 < sent.length; index += 2) {
    const key = sent[index] as Buffer;
    if (BROKER_KEYS.has(textOf(key))) continue;
    writer.raw(key);
    writer.raw(sent[index + 1] as Buffer);
    count += 2;
  }
  writer.raw(KEY.sequenceNumber);
  writer.long(message.sequenceNumber);
  writer.raw(KEY.enqueueSequenceNumber);
  writer.long(message.enqueueSequenceNumber);
  writer.raw(KEY.enqueuedTime);
  writer.timestamp(message.enqueuedUtc);
  writer.raw(KEY.messageState);
  writer.int(STATE_CODE[message.isDeferred ? 'deferred' : message.state]);
  if (lockedUntilUtc !== undefined) {
    writer.raw(KEY.lockedUntil);
    writer.timestamp(lockedUntilUtc);
    count += 2;
  }
  if (message.deadLetterSource !== undefined) {
    writer.raw(KEY.deadLetterSource);
    writer.raw(encodedString(message.deadLetterSource));
    count += 2;
  }
  writer.end(start, count);
}

function writeProperties(sent: Buffer[], added: Properties): void {
  writer.section(SECTION.applicationProperties);
  const start = writer.beginMap();
  let count = 0;
  for (let index = 0; index + 1 < sent.length; index += 2) {
    const key = sent[index] as Buffer;
    if (added.has(textOf(key) ?? '')) continue;
    writer.raw(key);
    writer.raw(sent[index + 1] as Buffer);
    count += 2;
  }
  for (const [name, value] of added) {
    if (value === null) continue;
    writer.raw(encodedString(name));
    writer.raw(encodedPlain(value));
    count += 2;
  }
  writer.end(start, count);
}
