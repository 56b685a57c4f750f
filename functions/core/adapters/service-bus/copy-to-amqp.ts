import type { Copy } from '../../rules/redelivery.ts';
import {
  encodeBinary,
  encodeList,
  encodeMap,
  encodeProperty,
  encodeSection,
  encodeString,
  encodeSymbol,
  encodeTimestamp,
  encodeUint,
  type Pieces,
} from './amqp-encode.ts';
import { isCompound, itemsOf } from './amqp-encoding.ts';
import { toProperty } from './amqp-property.ts';
import { HEADER, PROPERTIES, SECTION, sectionsOf } from './amqp-sections.ts';

const SCHEDULED_ENQUEUE_TIME = 'x-opt-scheduled-enqueue-time';
const PARTITION_KEY = 'x-opt-partition-key';
const UINT_MAX = 2 ** 32 - 1;

/** What the broker writes for one delivery or one stay in a queue, and what this copy writes anew. Others travel. */
const NOT_COPIED: ReadonlySet<string> = new Set([
  SCHEDULED_ENQUEUE_TIME,
  'x-opt-sequence-number',
  'x-opt-enqueue-sequence-number',
  'x-opt-enqueued-time',
  'x-opt-locked-until',
  'x-opt-lock-token',
  'x-opt-message-state',
  'x-opt-deadletter-source',
  'x-opt-partition-id',
  'x-opt-via-partition-key',
  'x-opt-offset',
  'x-opt-publisher',
]);

/** An encoded copy, with what a batch that carries it must repeat. */
export interface EncodedCopy {
  readonly pieces: Pieces;
  /** Encoded values for the batch's own sections; undefined where the message has none. */
  readonly sessionId: Buffer | undefined;
  readonly partitionKey: Buffer | undefined;
}

interface Pair {
  readonly name: string;
  readonly key: Buffer;
  readonly value: Buffer;
}

/**
 * Cuts a delayed copy from a received message. Body and footer are the same bytes, application properties keep the
 * bytes of their values and with them their types; only what {@link Copy} says is written anew. Lists, maps and arrays
 * are no application properties to the service, which refuses a message that carries one: they stay behind.
 *
 * @throws RangeError or TypeError where the bytes are no AMQP message
 */
export function encodeCopy(raw: Buffer, copy: Copy): EncodedCopy {
  const sections = sectionsOf(raw);
  const items = (code: number): Buffer[] => {
    const section = sections.find((candidate) => candidate.code === code);
    return section ? itemsOf(section.value) : [];
  };

  const header = items(SECTION.header);
  const timeToLive =
    copy.timeToLiveInMs === undefined ? undefined : encodeUint(Math.min(copy.timeToLiveInMs, UINT_MAX));

  const annotations = pairsOf(items(SECTION.messageAnnotations)).filter(({ name }) => !NOT_COPIED.has(name));
  const properties: (Buffer | undefined)[] = items(SECTION.properties);
  properties[PROPERTIES.messageId] = encodeString(copy.messageId);

  const dropped = new Set([...copy.drop, ...copy.set.keys()]);
  const kept = pairsOf(items(SECTION.applicationProperties)).filter(
    ({ name, value }) => !dropped.has(name) && !isCompound(value),
  );
  const written: Buffer[] = [];
  for (const [name, value] of copy.set) written.push(encodedName(name), encodeProperty(value));

  return {
    pieces: [
      ...encodeSection(SECTION.header, encodeList([header[HEADER.durable], header[HEADER.priority], timeToLive])),
      ...encodeSection(
        SECTION.messageAnnotations,
        encodeMap([...flat(annotations), encodeSymbol(SCHEDULED_ENQUEUE_TIME), encodeTimestamp(copy.dueUtc)]),
      ),
      ...encodeSection(SECTION.properties, encodeList(properties)),
      ...encodeSection(SECTION.applicationProperties, encodeMap([...flat(kept), ...written])),
      ...sections.filter(({ code }) => code >= SECTION.data).map(({ bytes }) => bytes),
    ],
    sessionId: properties[PROPERTIES.groupId],
    partitionKey: annotations.find(({ name }) => name === PARTITION_KEY)?.value,
  };
}

/** Copies carry the same few names, so each is encoded once. */
const encodedNames = new Map<string, Buffer>();

function encodedName(name: string): Buffer {
  let bytes = encodedNames.get(name);
  if (!bytes) {
    bytes = encodeString(name);
    encodedNames.set(name, bytes);
  }
  return bytes;
}

function pairsOf(keysAndValues: readonly Buffer[]): Pair[] {
  const pairs: Pair[] = [];
  for (let at = 0; at < keysAndValues.length; at += 2) {
    const [key, value] = [keysAndValues[at], keysAndValues[at + 1]];
    if (key && value) pairs.push({ name: String(toProperty(key).value), key, value });
  }
  return pairs;
}

const flat = (pairs: readonly Pair[]): Buffer[] => pairs.flatMap(({ key, value }) => [key, value]);

/**
 * A batch of one around an encoded copy, for message format 0x80013700. The envelope repeats what the service routes
 * by: message id, session and partition key.
 */
export function encodeBatchOfOne(copy: EncodedCopy, messageId: string): Buffer {
  const properties: (Buffer | undefined)[] = new Array(PROPERTIES.groupId + 1).fill(undefined);
  properties[PROPERTIES.messageId] = encodeString(messageId);
  properties[PROPERTIES.groupId] = copy.sessionId;
  const { partitionKey } = copy;
  return Buffer.concat([
    ...(partitionKey
      ? encodeSection(SECTION.messageAnnotations, encodeMap([encodeSymbol(PARTITION_KEY), partitionKey]))
      : []),
    ...encodeSection(SECTION.properties, encodeList(properties)),
    ...encodeSection(SECTION.data, encodeBinary(copy.pieces)),
  ]);
}
