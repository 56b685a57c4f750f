import { contentOf, endOfValue } from './amqp-encoding.ts';

/** Descriptor codes of the sections of an AMQP 1.0 message (part 3, section 3.2). */
export const SECTION = {
  header: 0x70,
  deliveryAnnotations: 0x71,
  messageAnnotations: 0x72,
  properties: 0x73,
  applicationProperties: 0x74,
  data: 0x75,
  sequence: 0x76,
  value: 0x77,
  footer: 0x78,
} as const;

/** The same by name: a descriptor may be either. */
const BY_NAME: Readonly<Record<string, number>> = {
  'amqp:header:list': SECTION.header,
  'amqp:delivery-annotations:map': SECTION.deliveryAnnotations,
  'amqp:message-annotations:map': SECTION.messageAnnotations,
  'amqp:properties:list': SECTION.properties,
  'amqp:application-properties:map': SECTION.applicationProperties,
  'amqp:data:binary': SECTION.data,
  'amqp:amqp-sequence:list': SECTION.sequence,
  'amqp:amqp-value:*': SECTION.value,
  'amqp:footer:map': SECTION.footer,
};

const KNOWN: ReadonlySet<number> = new Set(Object.values(SECTION));

/** Places of the fields in the list of a header (part 3, section 3.2.1). */
export const HEADER = { durable: 0, priority: 1, ttl: 2, deliveryCount: 4 } as const;

/** Places of the fields in the list of properties (part 3, section 3.2.4). */
export const PROPERTIES = {
  messageId: 0,
  contentType: 6,
  contentEncoding: 7,
  absoluteExpiryTime: 8,
  groupId: 10,
} as const;

/** One section of an encoded message. */
export interface Section {
  readonly code: number;
  /** The whole section, descriptor included. */
  readonly bytes: Buffer;
  /** The section's value without its descriptor. */
  readonly value: Buffer;
}

/**
 * Cuts an encoded message into its sections, in the order in which they stand; some senders write the footer before the
 * body.
 *
 * @throws RangeError or TypeError on bytes that are no AMQP message
 */
export function sectionsOf(message: Buffer): Section[] {
  const sections: Section[] = [];
  for (let start = 0; start < message.length; ) {
    if (message[start] !== 0x00) {
      throw new TypeError(`expected an AMQP section at byte ${start}, got 0x${message[start]?.toString(16)}`);
    }
    const valueStart = endOfValue(message, start + 1);
    const code = codeOf(message.subarray(start + 1, valueStart));
    if (code === undefined) throw new TypeError(`no section of an AMQP message is described as at byte ${start}`);
    const end = endOfValue(message, valueStart);
    sections.push({ code, bytes: message.subarray(start, end), value: message.subarray(valueStart, end) });
    start = end;
  }
  return sections;
}

function codeOf(descriptor: Buffer): number | undefined {
  const code = numberOf(descriptor) ?? BY_NAME[contentOf(descriptor)?.toString('latin1') ?? ''];
  return code !== undefined && KNOWN.has(code) ? code : undefined;
}

function numberOf(descriptor: Buffer): number | undefined {
  if (descriptor[0] === 0x53) return descriptor[1];
  return descriptor[0] === 0x80 ? Number(descriptor.readBigUInt64BE(1)) : undefined;
}
