import { endOfValue, itemsOf, MalformedMessageError } from './encoded-value.ts';

/** The sections of an AMQP message, by the code of their descriptor (AMQP 1.0, 3.2). */
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

/** Places of the fields in the properties section. */
export const PROPERTY = {
  messageId: 0,
  userId: 1,
  to: 2,
  subject: 3,
  replyTo: 4,
  correlationId: 5,
  contentType: 6,
  groupId: 10,
  replyToGroupId: 12,
} as const;

/** One section: `start` is where its descriptor begins, `value` where its value does; both and `end` are byte offsets. */
export type Section = { readonly code: number; readonly start: number; readonly value: number; readonly end: number };

/**
 * Finds the sections of an encoded message and reads nothing in them. Their order is not checked: rhea, and with it the
 * SDK, writes the footer before the body.
 *
 * @throws MalformedMessageError when the bytes are not a sequence of sections
 */
export function sectionsOf(bytes: Buffer): readonly Section[] {
  if (last.bytes !== bytes) last = { bytes, sections: findSections(bytes) };
  return last.sections;
}

/** What a message says of itself is asked for in one go, field by field; each question would read through all of it. */
let last: { readonly bytes: Buffer | undefined; readonly sections: readonly Section[] } = {
  bytes: undefined,
  sections: [],
};

function findSections(bytes: Buffer): Section[] {
  const sections: Section[] = [];
  let start = 0;
  while (start < bytes.length) {
    if (bytes[start] !== 0x00) throw new MalformedMessageError(`Expected a section at byte ${start}.`);
    const code = codeOf(bytes, start + 1);
    const value = endOfValue(bytes, start + 1);
    const end = endOfValue(bytes, value);
    sections.push({ code, start, value, end });
    start = end;
  }
  return sections;
}

/** The encoded items of the list or map in the section `code`; none where the message has no such section. */
export function itemsOfSection(bytes: Buffer, sections: readonly Section[], code: number): Buffer[] {
  const section = sections.find((candidate) => candidate.code === code);
  return section === undefined ? [] : itemsOf(bytes, section.value);
}

function codeOf(bytes: Buffer, offset: number): number {
  const code = numericDescriptor(bytes, offset);
  if (code < SECTION.header || code > SECTION.footer) {
    throw new MalformedMessageError(`No message section has the code 0x${code.toString(16)}.`);
  }
  return code;
}

function numericDescriptor(bytes: Buffer, offset: number): number {
  if (bytes[offset] === 0x53) return bytes[offset + 1] ?? 0;
  if (bytes[offset] === 0x80 && bytes.length >= offset + 9) return Number(bytes.readBigUInt64BE(offset + 1));
  throw new MalformedMessageError(`Expected the numeric descriptor of a section at byte ${offset}.`);
}
