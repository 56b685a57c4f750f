import { type Body, type Delivery, int, type PropertyValue, string } from '../../functions/core/rules/delivery.ts';
import {
  DEAD_LETTER_DESCRIPTION,
  DEAD_LETTER_REASON,
  isReserved,
  PROPERTY,
} from '../../functions/core/rules/envelope.ts';
import { type Copy, copyMessageId } from '../../functions/core/rules/redelivery.ts';
import type { Content } from '../../local/broker/model/content.ts';
import type { StoredMessage } from '../../local/broker/model/stored-message.ts';

/** Who sent a message. */
export type Origin = 'producer' | 'consumer' | 'tool' | 'hand';

/** A message as the simulation sends it: decoded, because encoding is proven elsewhere and would cost most of the time. */
export interface SimulatedContent extends Content {
  readonly eventId: string;
  readonly body: Body;
  readonly properties: ReadonlyMap<string, PropertyValue>;
  readonly sentBy: Origin;
  readonly sentUtc: number;
}

export const QUEUE = 'orders';
export const CONSUMER = `${QUEUE}/order-placed`;

const NO_BYTES = new Uint8Array();
const NO_FIELDS = { applicationProperties: new Map() };

type Parts = Pick<SimulatedContent, 'messageId' | 'eventId' | 'body' | 'properties' | 'sentBy' | 'sentUtc'> & {
  readonly timeToLiveInMs?: number | undefined;
};

const contentOf = (parts: Parts): SimulatedContent => ({
  bytes: NO_BYTES,
  sessionId: undefined,
  timeToLiveInMs: undefined,
  fields: NO_FIELDS,
  ...parts,
});

const NO_PROPERTIES: ReadonlyMap<string, PropertyValue> = new Map();

export const firstMessage = (
  eventId: string,
  messageId: string,
  body: Body,
  sentUtc: number,
  timeToLiveInMs: number | undefined,
): SimulatedContent =>
  contentOf({ messageId, eventId, body, properties: NO_PROPERTIES, sentBy: 'producer', sentUtc, timeToLiveInMs });

/** The copy that a consumer sends, as the queue gets it. */
export function copyContent(delivery: Delivery, copy: Copy, eventId: string, sentUtc: number): SimulatedContent {
  const properties = new Map(delivery.properties);
  for (const name of copy.drop) properties.delete(name);
  for (const [name, value] of copy.set) properties.set(name, value);
  const { messageId, timeToLiveInMs } = copy;
  return contentOf({
    messageId,
    eventId,
    body: delivery.body,
    properties,
    sentBy: 'consumer',
    sentUtc,
    timeToLiveInMs,
  });
}

/** What the replay tool makes of a dead letter: the first attempt of the next generation, all marks gone. */
export function replayContent(dead: StoredMessage, generation: number, sentUtc: number): SimulatedContent {
  const { eventId, body } = simulated(dead);
  const properties = new Map<string, PropertyValue>(
    [...propertiesOf(dead)].filter(([name]) => !isReserved(name) && !isMark(name)),
  );
  properties.set(PROPERTY.consumer, string(CONSUMER));
  properties.set(PROPERTY.eventId, string(eventId));
  properties.set(PROPERTY.attempt, int(0));
  properties.set(PROPERTY.generation, int(generation));
  const messageId = copyMessageId({ consumer: CONSUMER, generation }, eventId, 0);
  return contentOf({ messageId, eventId, body, properties, sentBy: 'tool', sentUtc });
}

/** What a person makes of a dead letter with the portal or another explorer: the same message, its marks kept or not. */
export function resentContent(dead: StoredMessage, keepsMarks: boolean, sentUtc: number): SimulatedContent {
  const { eventId, body, messageId } = simulated(dead);
  const properties = new Map([...propertiesOf(dead)].filter(([name]) => keepsMarks || !isMark(name)));
  return contentOf({ messageId, eventId, body, properties, sentBy: 'hand', sentUtc });
}

const isMark = (name: string): boolean => name === DEAD_LETTER_REASON || name === DEAD_LETTER_DESCRIPTION;

export const simulated = (message: StoredMessage): SimulatedContent => message.content as SimulatedContent;

export const generationOf = (message: StoredMessage): number =>
  Number(propertiesOf(message).get(PROPERTY.generation)?.value ?? 0);

function propertiesOf(message: StoredMessage): ReadonlyMap<string, PropertyValue> {
  const { properties } = simulated(message);
  if (!message.properties) return properties;
  const all = new Map(properties);
  for (const [name, value] of message.properties)
    all.set(name, typeof value === 'number' ? int(value) : string(String(value)));
  return all;
}

/** The message as its consumer gets it. */
export function deliveryOf(message: StoredMessage): Delivery {
  const { body, messageId, timeToLiveInMs } = simulated(message);
  return {
    entity: QUEUE,
    messageId: messageId ?? '',
    sequenceNumber: String(message.sequenceNumber),
    enqueuedUtc: message.enqueuedUtc,
    lockedUntilUtc: message.lockedUntilUtc,
    deliveryCount: message.deliveryCount + 1,
    lockToken: message.lockToken ?? '',
    contentType: 'application/json',
    contentEncoding: undefined,
    sessionId: undefined,
    expiresUtc: timeToLiveInMs === undefined ? undefined : message.enqueuedUtc + timeToLiveInMs,
    body,
    properties: propertiesOf(message),
    raw: NO_BYTES,
  };
}
