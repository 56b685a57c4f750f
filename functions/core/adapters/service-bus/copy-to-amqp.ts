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
  itemsOf,
  sectionsOf,
} from './amqp-codec.ts';
import { SECTION } from './amqp-sections.ts';

const SCHEDULED_ENQUEUE_TIME = 'x-opt-scheduled-enqueue-time';
/** The one annotation of the broker that a sender may set too. */
const PARTITION_KEY = 'x-opt-partition-key';
const UINT_MAX = 2 ** 32 - 1;

/** An encoded copy, with what a batch that carries it must repeat. */
export interface EncodedCopy {
  readonly bytes: Buffer;
  /** Encoded values for the batch's own sections; undefined where the message has none. */
  readonly sessionId: Buffer | undefined;
  readonly partitionKey: Buffer | undefined;
}

/**
 * Cuts a delayed copy from a received message. Body and footer are the same bytes, application properties keep the
 * bytes of their values and with them their types; only what {@link Copy} says is written anew.
 */
export function encodeCopy(raw: Buffer, copy: Copy): EncodedCopy {
  const sections = sectionsOf(raw);
  const items = (code: number) => {
    const section = sections.find((candidate) => candidate.code === code);
    return section ? itemsOf(section.value) : [];
  };
  const pairs = (code: number) => {
    const all = items(code);
    return all.flatMap((key, at) => {
      const value = all[at + 1];
      return at % 2 === 0 && value ? [{ name: String(key.typed.value), key: key.bytes, value: value.bytes }] : [];
    });
  };

  const [durable, priority] = items(SECTION.header);
  const timeToLive =
    copy.timeToLiveInMs === undefined ? undefined : encodeUint(Math.min(copy.timeToLiveInMs, UINT_MAX));
  const header = encodeList([durable?.bytes, priority?.bytes, timeToLive]);

  const annotations = pairs(SECTION.messageAnnotations);
  const kept = annotations.filter(({ name }) => name === PARTITION_KEY || !name.startsWith('x-opt-'));
  const messageAnnotations = encodeMap([
    ...kept.flatMap(({ key, value }) => [key, value]),
    encodeSymbol(SCHEDULED_ENQUEUE_TIME),
    encodeTimestamp(copy.dueUtc),
  ]);

  const [, ...otherProperties] = items(SECTION.properties);
  const properties = encodeList([encodeString(copy.messageId), ...otherProperties.map(({ bytes }) => bytes)]);

  const dropped = new Set([...copy.drop, ...copy.set.keys()]);
  const applicationProperties = encodeMap([
    ...pairs(SECTION.applicationProperties)
      .filter(({ name }) => !dropped.has(name))
      .flatMap(({ key, value }) => [key, value]),
    ...[...copy.set].flatMap(([name, value]) => [encodeString(name), encodeProperty(value)]),
  ]);

  const unchanged = sections.filter(({ code }) => code >= SECTION.data && code <= SECTION.footer);
  return {
    bytes: Buffer.concat([
      encodeSection(SECTION.header, header),
      encodeSection(SECTION.messageAnnotations, messageAnnotations),
      encodeSection(SECTION.properties, properties),
      encodeSection(SECTION.applicationProperties, applicationProperties),
      ...unchanged.map(({ bytes }) => bytes),
    ]),
    sessionId: otherProperties[GROUP_ID - 1]?.bytes,
    partitionKey: kept.find(({ name }) => name === PARTITION_KEY)?.value,
  };
}

const GROUP_ID = 10;
const MESSAGE_ID = 0;

/**
 * A batch of one around an encoded copy, for message format 0x80013700. The envelope repeats what the service routes
 * by: message id, session and partition key.
 */
export function encodeBatchOfOne(copy: EncodedCopy, messageId: string): Buffer {
  const properties: (Buffer | undefined)[] = new Array(GROUP_ID + 1).fill(undefined);
  properties[MESSAGE_ID] = encodeString(messageId);
  properties[GROUP_ID] = copy.sessionId;
  return Buffer.concat([
    ...(copy.partitionKey
      ? [encodeSection(SECTION.messageAnnotations, encodeMap([encodeSymbol(PARTITION_KEY), copy.partitionKey]))]
      : []),
    encodeSection(SECTION.properties, encodeList(properties)),
    encodeSection(SECTION.data, encodeBinary(copy.bytes)),
  ]);
}
