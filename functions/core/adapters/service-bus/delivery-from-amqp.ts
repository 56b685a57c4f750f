import type { Delivery, PropertyValue } from '../../rules/delivery.ts';
import { bodyOf } from './amqp-body.ts';
import { itemsOf } from './amqp-encoding.ts';
import { toProperty, uuidText } from './amqp-property.ts';
import { HEADER, PROPERTIES, SECTION, sectionsOf } from './amqp-sections.ts';

/** Content of the host's binding data: the lock token, then the AMQP message as the broker sent it. */
export interface ReceivedMessage {
  readonly lockToken: string;
  readonly raw: Buffer;
}

const LOCK_TOKEN_BYTES = 16;

/** Splits the host's binding data. The token's first three groups stand in .NET's byte order. */
export function splitBindingData(content: Buffer): ReceivedMessage {
  const token = Buffer.from(content.subarray(0, LOCK_TOKEN_BYTES));
  token.subarray(0, 4).reverse();
  token.subarray(4, 6).reverse();
  token.subarray(6, 8).reverse();
  return { lockToken: uuidText(token), raw: content.subarray(LOCK_TOKEN_BYTES) };
}

/**
 * Reads a delivery from the message's own bytes; nothing comes from trigger metadata, which is parsed and re-cased on
 * its way.
 *
 * @throws RangeError or TypeError where the bytes are no AMQP message, or the broker's annotations are missing
 */
export function deliveryFromAmqp({ lockToken, raw }: ReceivedMessage, entity: string): Delivery {
  const sections = sectionsOf(raw);
  const items = (code: number): Buffer[] => {
    const section = sections.find((candidate) => candidate.code === code);
    return section ? itemsOf(section.value) : [];
  };
  const list = (code: number) => items(code).map(toProperty).map(present);
  const map = (code: number): Map<string, PropertyValue> => {
    const found = new Map<string, PropertyValue>();
    const all = items(code).map(toProperty);
    for (let at = 0; at < all.length; at += 2) {
      const [key, value] = [all[at], all[at + 1]];
      if (key && value) found.set(String(key.value), value);
    }
    return found;
  };

  const header = list(SECTION.header);
  const properties = list(SECTION.properties);
  const annotations = map(SECTION.messageAnnotations);
  const sequenceNumber = annotations.get('x-opt-sequence-number')?.value;
  const enqueuedUtc = annotations.get('x-opt-enqueued-time')?.value;
  if (typeof sequenceNumber !== 'bigint' || typeof enqueuedUtc !== 'number') {
    throw new TypeError('expected the annotations x-opt-sequence-number and x-opt-enqueued-time of a received message');
  }
  const lockedUntilUtc = annotations.get('x-opt-locked-until')?.value;
  return {
    entity,
    messageId: idText(properties[PROPERTIES.messageId]),
    sequenceNumber: String(sequenceNumber),
    enqueuedUtc,
    lockedUntilUtc: typeof lockedUntilUtc === 'number' ? lockedUntilUtc : undefined,
    // The host counts from 1, the wire from 0; binding data carries the host's count.
    deliveryCount: Math.max(1, Number(header[HEADER.deliveryCount]?.value ?? 1)),
    lockToken,
    contentType: textOf(properties[PROPERTIES.contentType]),
    contentEncoding: textOf(properties[PROPERTIES.contentEncoding]),
    sessionId: textOf(properties[PROPERTIES.groupId]),
    expiresUtc: expiryOf(enqueuedUtc, header[HEADER.ttl], properties[PROPERTIES.absoluteExpiryTime]),
    body: bodyOf(sections),
    properties: map(SECTION.applicationProperties),
    raw,
  };
}

const present = (property: PropertyValue): PropertyValue | undefined =>
  property.type === 'null' ? undefined : property;

const textOf = (property: PropertyValue | undefined): string | undefined =>
  typeof property?.value === 'string' && property.value !== '' ? property.value : undefined;

const UINT_MAX = 2 ** 32 - 1;
/** The last second of the year 9999, where .NET's time ends: what expires there does not expire. */
const END_OF_TIME_UTC = Date.parse('9999-12-31T23:59:59Z');

/**
 * When a message expires, if it does. A time to live of 0 is none; the greatest that a header holds, 49 days, is said of
 * anything longer too, and only the absolute time tells how much longer.
 */
function expiryOf(
  enqueuedUtc: number,
  timeToLive: PropertyValue | undefined,
  absoluteExpiryTime: PropertyValue | undefined,
): number | undefined {
  const timeToLiveInMs = timeToLive?.value;
  if (typeof timeToLiveInMs !== 'number' || timeToLiveInMs === 0) return undefined;
  if (timeToLiveInMs < UINT_MAX) return enqueuedUtc + timeToLiveInMs;
  const utc = absoluteExpiryTime?.value;
  return typeof utc === 'number' && utc < END_OF_TIME_UTC ? utc : undefined;
}

const LOOKS_TYPED =
  /^(null|boolean|u?byte|u?short|u?int|u?long|float|double|decimal|char|timestamp|uuid|binary|string|symbol|other):/;

/**
 * Ids of every type as distinct, stable strings: a string is itself, any other is led by its type, and so is a string
 * that looks like one of those.
 */
function idText(id: PropertyValue | undefined): string {
  if (!id) return '';
  const text = id.value instanceof Uint8Array ? Buffer.from(id.value).toString('hex') : String(id.value);
  return id.type === 'string' && !LOOKS_TYPED.test(text) ? text : `${id.type}:${text}`;
}
