import type { Properties } from '../../model/content.ts';
import type { StoredMessage } from '../../model/stored-message.ts';
import {
  encodedInt,
  encodedList,
  encodedLong,
  encodedMap,
  encodedNull,
  encodedPlain,
  encodedSection,
  encodedString,
  encodedSymbol,
  encodedTimestamp,
  encodedUint,
} from './encode.ts';
import { textOf } from './encoded-value.ts';
import { itemsOfSection, SECTION, sectionsOf } from './sections.ts';

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
  const items = (code: number) => itemsOfSection(bytes, sections, code);
  const parts = [
    encodedSection(SECTION.header, header(items(SECTION.header), message, marks)),
    encodedSection(SECTION.messageAnnotations, annotations(items(SECTION.messageAnnotations), message, marks)),
  ];
  const { properties } = message;
  const merged =
    properties === undefined
      ? undefined
      : encodedSection(
          SECTION.applicationProperties,
          mergedProperties(items(SECTION.applicationProperties), properties),
        );
  for (const { code, start, end } of sections) {
    if (code < SECTION.properties || (merged !== undefined && code === SECTION.applicationProperties)) continue;
    parts.push(bytes.subarray(start, end));
    // What is told by a settlement stands right behind the properties, where application properties belong.
    if (merged !== undefined && code === SECTION.properties) parts.push(merged);
  }
  return Buffer.concat(parts);
}

/** Fields of a header in their order: durable, priority, time to live, first acquirer, delivery count. */
function header(sent: Buffer[], message: StoredMessage, { deliveryCount }: DeliveryMarks): Buffer {
  const { timeToLiveInMs } = message;
  return encodedList([
    sent[0] ?? encodedNull(),
    sent[1] ?? encodedNull(),
    timeToLiveInMs <= LARGEST_UINT ? encodedUint(timeToLiveInMs) : encodedNull(),
    encodedNull(),
    encodedUint(deliveryCount),
  ]);
}

function annotations(sent: Buffer[], message: StoredMessage, { lockedUntilUtc }: DeliveryMarks): Buffer {
  const kept: Buffer[] = [];
  for (let index = 0; index + 1 < sent.length; index += 2) {
    const key = sent[index] as Buffer;
    if (!BROKER_KEYS.has(textOf(key))) kept.push(key, sent[index + 1] as Buffer);
  }
  const state = message.isDeferred ? 'deferred' : message.state;
  kept.push(KEY.sequenceNumber, encodedLong(message.sequenceNumber));
  kept.push(KEY.enqueueSequenceNumber, encodedLong(message.enqueueSequenceNumber));
  kept.push(KEY.enqueuedTime, encodedTimestamp(message.enqueuedUtc));
  kept.push(KEY.messageState, encodedInt(STATE_CODE[state]));
  if (lockedUntilUtc !== undefined) kept.push(KEY.lockedUntil, encodedTimestamp(lockedUntilUtc));
  if (message.deadLetterSource !== undefined) kept.push(KEY.deadLetterSource, encodedString(message.deadLetterSource));
  return encodedMap(kept);
}

function mergedProperties(sent: Buffer[], added: Properties): Buffer {
  const merged: Buffer[] = [];
  for (let index = 0; index + 1 < sent.length; index += 2) {
    const key = sent[index] as Buffer;
    if (!added.has(textOf(key) ?? '')) merged.push(key, sent[index + 1] as Buffer);
  }
  for (const [name, value] of added) {
    if (value !== null) merged.push(encodedString(name), encodedPlain(value));
  }
  return encodedMap(merged);
}
