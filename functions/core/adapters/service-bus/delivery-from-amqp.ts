import type { Body, Delivery, PropertyValue } from '../../rules/delivery.ts';
import { itemsOf, readValue, type Section, sectionsOf, toProperty, uuidText } from './amqp-codec.ts';
import { SECTION } from './amqp-sections.ts';

const HEADER = { ttl: 2, deliveryCount: 4 } as const;
const PROPERTIES = { messageId: 0, contentType: 6, contentEncoding: 7, groupId: 10 } as const;

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
 * @throws where the bytes are no AMQP message, or the broker's annotations are missing
 */
export function deliveryFromAmqp({ lockToken, raw }: ReceivedMessage, entity: string): Delivery {
  const sections = sectionsOf(raw);
  const of = (code: number): Section | undefined => sections.find((section) => section.code === code);
  const list = (code: number): (PropertyValue | undefined)[] => {
    const section = of(code);
    return section ? itemsOf(section.value).map(({ typed, bytes }) => present(toProperty(typed, bytes))) : [];
  };
  const map = (code: number): Map<string, PropertyValue> => {
    const section = of(code);
    const found = new Map<string, PropertyValue>();
    if (!section) return found;
    const items = itemsOf(section.value);
    for (let at = 0; at + 1 < items.length; at += 2) {
      const [key, value] = [items[at], items[at + 1]];
      if (key && value) found.set(String(key.typed.value), toProperty(value.typed, value.bytes));
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
  const timeToLiveInMs = header[HEADER.ttl]?.value;
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
    expiresUtc: typeof timeToLiveInMs === 'number' ? enqueuedUtc + timeToLiveInMs : undefined,
    body: bodyOf(sections),
    properties: map(SECTION.applicationProperties),
    raw,
  };
}

const present = (property: PropertyValue): PropertyValue | undefined =>
  property.type === 'null' ? undefined : property;

const textOf = (property: PropertyValue | undefined): string | undefined =>
  typeof property?.value === 'string' && property.value !== '' ? property.value : undefined;

const ID_TYPES = ['ulong', 'uuid', 'binary', 'string'];

/**
 * Ids of every type as distinct, stable strings: a string is itself, any other is led by its type, and so is a string
 * that looks like one of those.
 */
function idText(id: PropertyValue | undefined): string {
  if (!id) return '';
  const text = id.value instanceof Uint8Array ? Buffer.from(id.value).toString('hex') : String(id.value);
  const looksTyped = ID_TYPES.some((type) => text.startsWith(`${type}:`));
  return id.type === 'string' && !looksTyped ? text : `${id.type}:${text}`;
}

function bodyOf(sections: readonly Section[]): Body {
  const data = sections.filter(({ code }) => code === SECTION.data);
  if (data.length > 0) {
    return { kind: 'data', bytes: Buffer.concat(data.map(({ value }) => readValue(value).value as Buffer)) };
  }
  const section = sections.find(({ code }) => code === SECTION.value || code === SECTION.sequence);
  if (!section) return { kind: 'absent' };
  const kind = section.code === SECTION.value ? 'value' : 'sequence';
  const { value } = readValue(section.value);
  const bytes = typeof value === 'string' ? Buffer.from(value) : Buffer.isBuffer(value) ? value : undefined;
  return { kind, bytes, value };
}
