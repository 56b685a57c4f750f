import type { Copy } from '../../../../functions/core/rules/redelivery.ts';
import { encodedList, encodedMap, encodedSection, encodedSymbol } from '../../../../local/broker/amqp/codec/encode.ts';
import { textOf } from '../../../../local/broker/amqp/codec/encoded-value.ts';
import { itemsOfSection, SECTION, sectionsOf } from '../../../../local/broker/amqp/codec/sections.ts';
import { hex, wrap } from './wire-values.ts';

/** 2026-01-05T09:00:00Z */
export const ENQUEUED_UTC = 1_767_603_600_000;
export const DUE_UTC = ENQUEUED_UTC + 60_000;

const NULL = hex('40');

type Fields = {
  /** Fields of the header in their order; undefined is null. */
  readonly header?: readonly (Buffer | undefined)[];
  /** Besides those that the broker writes. */
  readonly annotations?: Readonly<Record<string, Buffer>>;
  /** Fields of the properties in their order; undefined is null. */
  readonly properties?: readonly (Buffer | undefined)[];
  readonly applicationProperties?: readonly (readonly [key: Buffer, value: Buffer])[];
  /** Sections behind the properties, encoded. */
  readonly body?: readonly Buffer[];
};

/** What the broker writes on every delivery. */
const BROKER_ANNOTATIONS: Readonly<Record<string, Buffer>> = {
  'x-opt-sequence-number': hex('81 0020000000000001'),
  'x-opt-enqueue-sequence-number': wrap('long', 3),
  'x-opt-enqueued-time': wrap('timestamp', ENQUEUED_UTC),
  'x-opt-locked-until': wrap('timestamp', ENQUEUED_UTC + 30_000),
  'x-opt-message-state': wrap('int', 0),
};

/** A message as the host hands it over; each part is given as encoded bytes, and written by the broker's codec. */
export function aMessage({ header, annotations = {}, properties, applicationProperties, body }: Fields = {}): Buffer {
  const allAnnotations = Object.entries({ ...BROKER_ANNOTATIONS, ...annotations });
  const list = (fields: readonly (Buffer | undefined)[]) => encodedList(Array.from(fields, (field) => field ?? NULL));
  return Buffer.concat([
    ...(header ? [encodedSection(SECTION.header, list(header))] : []),
    encodedSection(
      SECTION.messageAnnotations,
      encodedMap(allAnnotations.flatMap(([name, value]) => [encodedSymbol(name), value])),
    ),
    ...(properties ? [encodedSection(SECTION.properties, list(properties))] : []),
    ...(applicationProperties
      ? [encodedSection(SECTION.applicationProperties, encodedMap(applicationProperties.flat()))]
      : []),
    ...(body ?? [data('{}')]),
  ]);
}

/** A data section. */
export const data = (content: string | Buffer): Buffer =>
  encodedSection(SECTION.data, wrap('binary', Buffer.from(content)));
/** A value section. */
export const value = (encodedValue: Buffer): Buffer => encodedSection(SECTION.value, encodedValue);
/** A sequence section. */
export const sequence = (encodedItems: Buffer): Buffer => encodedSection(SECTION.sequence, encodedItems);

/** A copy that changes nothing but what every copy changes. */
export const aCopy = (changes: Partial<Copy> = {}): Copy => ({
  messageId: 'A~r1~c',
  dueUtc: DUE_UTC,
  timeToLiveInMs: undefined,
  drop: [],
  set: new Map(),
  ...changes,
});

type Pairs = [name: string | undefined, hexadecimal: string | undefined][];

/** Application properties of an encoded message by the broker's codec, in their order. */
export const propertiesIn = (message: Buffer): Pairs => pairsIn(message, SECTION.applicationProperties);
/** Message annotations of an encoded message by the broker's codec, in their order. */
export const annotationsIn = (message: Buffer): Pairs => pairsIn(message, SECTION.messageAnnotations);

function pairsIn(message: Buffer, code: number): Pairs {
  const items = fieldsIn(message, code);
  return items.flatMap((key, at) => (at % 2 === 0 ? [[textOf(key), items[at + 1]?.toString('hex')]] : []) as Pairs);
}

/** The encoded items of the list or map in a section. */
export const fieldsIn = (message: Buffer, code: number): Buffer[] => itemsOfSection(message, sectionsOf(message), code);

/** Body and footer of an encoded message, as bytes. */
export const bodyIn = (message: Buffer): string[] =>
  sectionsOf(message)
    .filter(({ code }) => code >= SECTION.data)
    .map(({ start, end }) => message.toString('hex', start, end));
