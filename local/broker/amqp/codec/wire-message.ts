import type { Content, Fields } from '../../model/content.ts';
import { decodedValue } from '../wire-values.ts';
import { encodedList, encodedSection, encodedString } from './encode.ts';
import { itemsOf, textOf } from './encoded-value.ts';
import { itemsOfSection, PROPERTY, SECTION, type Section, sectionsOf } from './sections.ts';

const BODY: ReadonlySet<number> = new Set([SECTION.data, SECTION.sequence, SECTION.value]);
const SCHEDULED_ENQUEUE_TIME = 'x-opt-scheduled-enqueue-time';
const PARTITION_KEY = 'x-opt-partition-key';

/**
 * A message as it came over the wire. Only its bytes are kept; everything else is read from them when asked for, because
 * a broker full of waiting messages should cost little more than their bytes.
 */
export class WireMessage implements Content {
  readonly bytes: Buffer;

  private constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  /**
   * Copies `bytes`, which may be a slice of a much larger network buffer. A message without a message id is given
   * `spareId`, as the service does; nothing else changes.
   *
   * @throws MalformedMessageError when the bytes are not an AMQP message
   */
  static from(bytes: Buffer, spareId: () => string): WireMessage {
    const own = Buffer.from(bytes);
    const sections = sectionsOf(own);
    // Read once here, so that bytes which cannot be read are refused now and do not fail when they are delivered.
    for (const { code, value } of sections) if (!BODY.has(code)) itemsOf(own, value);
    const properties = itemsOfSection(own, sections, SECTION.properties);
    const id = properties[PROPERTY.messageId];
    if (id !== undefined && id[0] !== 0x40) return new WireMessage(own);
    return new WireMessage(withMessageId(own, sections, properties, spareId()));
  }

  get messageId(): string | undefined {
    const id = this.#property(PROPERTY.messageId);
    if (id === undefined) return undefined;
    return textOf(id) ?? `\u0000${id.toString('hex')}`;
  }

  get sessionId(): string | undefined {
    return this.#text(PROPERTY.groupId);
  }

  get timeToLiveInMs(): number | undefined {
    const value = this.#items(SECTION.header)[2];
    const milliseconds = value === undefined ? null : decodedValue(value);
    return typeof milliseconds === 'number' ? milliseconds : undefined;
  }

  /** Instant in epoch milliseconds that the sender asked for, `undefined` for at once. */
  get scheduledUtc(): number | undefined {
    const value = this.annotation(SCHEDULED_ENQUEUE_TIME);
    const instant = value === undefined ? undefined : decodedValue(value);
    return instant instanceof Date ? instant.getTime() : undefined;
  }

  get partitionKey(): string | undefined {
    const value = this.annotation(PARTITION_KEY);
    return value === undefined ? undefined : textOf(value);
  }

  get fields(): Fields {
    const items = this.#items(SECTION.applicationProperties);
    const applicationProperties = new Map<string, unknown>();
    for (let index = 0; index + 1 < items.length; index += 2) {
      const name = textOf(items[index] as Buffer);
      if (name !== undefined) applicationProperties.set(name, decodedValue(items[index + 1] as Buffer));
    }
    return {
      messageId: this.#text(PROPERTY.messageId),
      correlationId: this.#text(PROPERTY.correlationId),
      contentType: this.#text(PROPERTY.contentType),
      subject: this.#text(PROPERTY.subject),
      to: this.#text(PROPERTY.to),
      replyTo: this.#text(PROPERTY.replyTo),
      sessionId: this.sessionId,
      replyToSessionId: this.#text(PROPERTY.replyToGroupId),
      applicationProperties,
    };
  }

  /** Encoded names and values of the application properties, in turn. */
  get encodedProperties(): Buffer[] {
    return this.#items(SECTION.applicationProperties);
  }

  /** The encoded value of a message annotation. */
  annotation(name: string): Buffer | undefined {
    const items = this.#items(SECTION.messageAnnotations);
    for (let index = 0; index + 1 < items.length; index += 2) {
      if (textOf(items[index] as Buffer) === name) return items[index + 1];
    }
    return undefined;
  }

  #text(place: number): string | undefined {
    const value = this.#property(place);
    return value === undefined ? undefined : textOf(value);
  }

  #property(place: number): Buffer | undefined {
    const value = this.#items(SECTION.properties)[place];
    return value === undefined || value[0] === 0x40 ? undefined : value;
  }

  #items(code: number): Buffer[] {
    return itemsOfSection(this.bytes, sectionsOf(this.bytes), code);
  }
}

function withMessageId(bytes: Buffer, sections: readonly Section[], properties: Buffer[], id: string): Buffer {
  const others = properties.slice(1);
  const replacement = encodedSection(SECTION.properties, encodedList([encodedString(id), ...others]));
  const slices = ({ start, end }: Section) => bytes.subarray(start, end);
  return Buffer.concat([
    ...sections.filter(({ code }) => code < SECTION.properties).map(slices),
    replacement,
    ...sections.filter(({ code }) => code > SECTION.properties).map(slices),
  ]);
}
