import { propertySizeInBytes } from './amqp-size.ts';
import type { DeadLetter, LastFailure } from './dead-letter.ts';
import { type Body, type Delivery, string } from './delivery.ts';
import { DEAD_LETTER_DESCRIPTION, DEAD_LETTER_REASON, PROPERTY } from './envelope.ts';
import type { Copy } from './redelivery.ts';
import { cut, sizeInBytes } from './text.ts';

/**
 * The service's limit on all properties of a message together, its system properties included, in bytes (its quotas
 * page). Single properties, at most 32 KB each, need no check: what a copy adds is bounded far below that, and the rest
 * came through the broker before.
 */
const PROPERTIES_BYTES = 64 * 1_024;
/** The same of a whole message in the Standard tier and in the emulator. */
export const STANDARD_MESSAGE_BYTES = 256 * 1_024;

/** What a copy grows by besides its properties: the longest MessageId and the annotation of its due time. */
const COPY_FIELDS_BYTES = 640;

/** What can be done without, the most dispensable first. Identity, place and instants that a rule reads are not here. */
const DISPENSABLE = [
  PROPERTY.history,
  PROPERTY.errorMessage,
  'tracestate',
  'traceparent',
  'Diagnostic-Id',
  PROPERTY.policy,
  PROPERTY.errorCode,
  PROPERTY.lastFailed,
  PROPERTY.firstFailed,
] as const;

/** Whether the broker will take a copy. */
export type Fit =
  | { readonly kind: 'fits'; readonly copy: Copy }
  | { readonly kind: 'tooLarge'; readonly failure: LastFailure };

type Message = Pick<Delivery, 'raw' | 'body' | 'properties'>;
type Properties = Delivery['properties'];

/**
 * The copy without as many of its dispensable properties as it takes for the broker to accept it, or the failure to
 * dead-letter with where that is not enough: a copy that is refused would be tried for ever.
 *
 * @param maxMessageInBytes the entity's own limit on a message, as its link says
 */
export function fitCopy(delivery: Message, copy: Copy, maxMessageInBytes = STANDARD_MESSAGE_BYTES): Fit {
  const body = bodySizeInBytes(delivery.body);
  // Most messages are far from every limit, and that is cheap to see: all that there is, and all that comes.
  const allInBytes = body + headSizeInBytes(delivery) + sizeOf(copy.set) + COPY_FIELDS_BYTES;
  if (allInBytes <= Math.min(PROPERTIES_BYTES, maxMessageInBytes)) return { kind: 'fits', copy };

  const room = Math.min(PROPERTIES_BYTES, maxMessageInBytes - body) - COPY_FIELDS_BYTES;
  const kept = keptSizeInBytes(delivery, [...copy.drop, ...copy.set.keys()]);
  const set = shed(copy.set, room - kept);
  if (sizeOf(set) <= room - kept) return { kind: 'fits', copy: { ...copy, set } };
  const message =
    `no room for a copy: ${body} bytes of body, ${kept} of properties and fields; ` +
    `at most ${maxMessageInBytes} in all, ${PROPERTIES_BYTES} without the body`;
  return { kind: 'tooLarge', failure: { reason: 'MessageTooLarge', code: 'MessageTooLarge', message } };
}

/**
 * The dead letter cut to the room that the message's own properties leave. Dispensable properties go first, then the
 * end of the description; the reason always stays.
 */
export function fitDeadLetter(delivery: Message, deadLetter: DeadLetter): DeadLetter {
  const texts = new Map([
    [DEAD_LETTER_REASON, string(deadLetter.reason)],
    [DEAD_LETTER_DESCRIPTION, string('')],
  ]);
  const kept = keptSizeInBytes(delivery, [...texts.keys(), ...deadLetter.properties.keys()]);
  const room = PROPERTIES_BYTES - kept - sizeOf(texts);
  const properties = shed(deadLetter.properties, room - sizeInBytes(deadLetter.description));
  const description = cut(deadLetter.description, room - sizeOf(properties));
  return { reason: deadLetter.reason, description, properties };
}

/** The properties less as many dispensable ones as it takes to fit; all of these are gone where even that is too little. */
function shed(properties: Properties, roomInBytes: number): Properties {
  const left = new Map(properties);
  for (const name of DISPENSABLE) {
    if (sizeOf(left) <= roomInBytes) break;
    left.delete(name);
  }
  return left;
}

function sizeOf(properties: Properties): number {
  let sum = 0;
  for (const [name, value] of properties) sum += propertySizeInBytes(name, value).most;
  return sum;
}

/** What stays of a message but its body, at most, once the named properties are gone or replaced. */
function keptSizeInBytes(message: Message, gone: readonly string[]): number {
  const freed = [...message.properties]
    .filter(([name]) => gone.includes(name))
    .reduce((sum, [name, value]) => sum + propertySizeInBytes(name, value).least, 0);
  return headSizeInBytes(message) - freed;
}

/** Everything of a message but its body, at most: what the broker added for the delivery counts too. */
const headSizeInBytes = ({ raw, body, properties }: Message): number =>
  Math.max(raw.length - bodySizeInBytes(body), sizeOf(properties));

const bodySizeInBytes = (body: Body): number => ('bytes' in body ? (body.bytes?.length ?? 0) : 0);
