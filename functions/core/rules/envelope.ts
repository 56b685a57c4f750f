import type { Delivery, PropertyValue } from './delivery.ts';
import { hash } from './hash.ts';
import { cut, iso, parseIso, sizeInBytes } from './text.ts';

/** Names of the properties that this consumer writes on copies, each in its one spelling. */
export const PROPERTY = {
  version: 'retry-version',
  consumer: 'retry-consumer',
  eventId: 'retry-event-id',
  attempt: 'retry-attempt',
  deferrals: 'retry-deferrals',
  origin: 'retry-origin',
  generation: 'replay-count',
  edit: 'replay-edit',
  firstEnqueued: 'retry-first-enqueued-utc',
  firstFailed: 'retry-first-failed-utc',
  deadline: 'retry-deadline-utc',
  lastFailed: 'retry-last-failed-utc',
  notBefore: 'retry-not-before-utc',
  errorCode: 'retry-error-code',
  errorMessage: 'retry-error-message',
  history: 'retry-history',
  policy: 'retry-policy',
} as const;

/** The reason that the broker and other tools write on a dead letter; never travels on a copy. */
export const DEAD_LETTER_REASON = 'DeadLetterReason';
/** The text beside it. */
export const DEAD_LETTER_DESCRIPTION = 'DeadLetterErrorDescription';

/** The greatest value of the counts in an envelope. */
export const INT32_MAX = 2 ** 31 - 1;

/** The message that a delivery stands for: itself, or for a deferral the one that it puts off. */
export interface Origin {
  readonly messageId: string;
  readonly sequenceNumber: string;
  readonly enqueuedUtc: number;
  /** Whether it came with a dead letter's marks: someone re-sent it. */
  readonly carriesDeadLetterMarks: boolean;
  /** Whether this consumer wrote it as a redelivery; false for what a producer, a person or another tool sent. */
  readonly isOurCopy: boolean;
  /** When it was meant to become active, where it is our copy. */
  readonly notBeforeUtc: number | undefined;
}

/** One past failure, as kept in `retry-history`. */
export interface PastFailure {
  readonly generation: number;
  readonly attempt: number;
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly code: string;
  readonly message: string;
}

/** What a delivery says about its event, read from the properties that can be believed. */
export interface Envelope {
  readonly eventId: string;
  /** Counts from 1, as received; the ledger may know better. */
  readonly attempt: number;
  readonly generation: number;
  readonly deferrals: number;
  /** Names the edit of a replay whose content was changed, so that its effect is another; absent on all else. */
  readonly edit?: string | undefined;
  /** Whether this consumer wrote the message, as a redelivery or a deferral, so that its properties count. */
  readonly isBelieved: boolean;
  readonly origin: Origin;
  readonly firstEnqueuedUtc: number;
  readonly firstFailedUtc: number | undefined;
  /** End of the retry window, once a copy has fixed it. */
  readonly deadlineUtc: number | undefined;
  readonly history: readonly PastFailure[];
  /** What was not believed, a sentence each, to be logged. */
  readonly doubts: readonly string[];
}

/**
 * Whether a property is ours by its name, believed or not. In any case of letters: brokers exist that merge keys which
 * differ in case only, and a foreign `Retry-Attempt` must not take the place of ours.
 */
export const isReserved = (name: string): boolean => /^(retry|replay)-/i.test(name);

/**
 * Reads a delivery's envelope. `retry-*` and `replay-*` count only where `retry-consumer` names `consumer`; a producer
 * may have copied the properties of some inbound message.
 *
 * @param compositionEventId the event's own id, where the composition defines one
 */
export function readEnvelope(delivery: Delivery, consumer: string, compositionEventId?: string): Envelope {
  const doubts: string[] = [];
  const isBelieved = delivery.properties.get(PROPERTY.consumer)?.value === consumer;
  const reserved = [...delivery.properties.keys()].filter(isReserved);
  if (!isBelieved && reserved.length > 0) {
    doubts.push(`${reserved.join(', ')}: not written by ${consumer}, dropped`);
  }
  for (const [name, { type }] of delivery.properties) {
    // Lists, maps and arrays; the service refuses a message that carries one, so no copy does.
    if (type === 'other') doubts.push(`${name}: a list, map or array is no property to the service, not copied`);
  }
  const believed = isBelieved ? delivery.properties : new Map<string, PropertyValue>();

  const count = (name: string): number => {
    const property = believed.get(name);
    if (!property) return 0;
    // By value, not by type: tools that re-send a message make a long or a double of an int.
    const value = typeof property.value === 'bigint' ? Number(property.value) : property.value;
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= INT32_MAX) return value;
    doubts.push(
      `${name} is ${property.type} ${shown(property.value)}: expected an int from 0 to ${INT32_MAX}, taken as 0`,
    );
    return 0;
  };
  const text = (name: string): string | undefined => {
    const value = believed.get(name)?.value;
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const instant = (name: string): number | undefined => {
    const property = believed.get(name);
    if (!property) return undefined;
    const { type, value } = property;
    if (type === 'timestamp' && typeof value === 'number' && Number.isFinite(value)) return value;
    const utc = typeof value === 'string' ? parseIso(value) : undefined;
    if (utc === undefined) doubts.push(`${name} is ${type} ${shown(value)}: expected ISO 8601, left out`);
    return utc;
  };
  const json = (name: string): unknown => {
    const written = text(name);
    if (written === undefined) return undefined;
    try {
      return JSON.parse(written);
    } catch {
      doubts.push(`${name} is not JSON, left out`);
      return undefined;
    }
  };

  const self: Origin = {
    messageId: delivery.messageId,
    sequenceNumber: delivery.sequenceNumber,
    enqueuedUtc: delivery.enqueuedUtc,
    carriesDeadLetterMarks: delivery.properties.has(DEAD_LETTER_REASON),
    isOurCopy: isBelieved,
    notBeforeUtc: instant(PROPERTY.notBefore),
  };
  // A deferral that was dead-lettered and re-sent stands for nobody but itself: its origin's place in the event's life is
  // over, and to judge it by that would end it as stale.
  const deferrals = self.carriesDeadLetterMarks ? 0 : count(PROPERTY.deferrals);
  const place = { generation: count(PROPERTY.generation), attempt: count(PROPERTY.attempt) + 1 };
  return {
    eventId: text(PROPERTY.eventId) ?? portable(compositionEventId || delivery.messageId || unnamedEventId(delivery)),
    ...place,
    deferrals,
    edit: text(PROPERTY.edit),
    isBelieved,
    origin: (deferrals > 0 ? readOrigin(json(PROPERTY.origin)) : undefined) ?? self,
    firstEnqueuedUtc: instant(PROPERTY.firstEnqueued) ?? delivery.enqueuedUtc,
    firstFailedUtc: instant(PROPERTY.firstFailed),
    deadlineUtc: instant(PROPERTY.deadline),
    history: [...readHistory(json(PROPERTY.history)), ...earlierDeadLetter(delivery, place)],
    doubts,
  };
}

/** The id of an event whose producer named none: where and when the broker took it in. */
const unnamedEventId = (delivery: Delivery): string =>
  `${delivery.entity}:${delivery.sequenceNumber}:${delivery.enqueuedUtc}`;

const EVENT_ID_BYTES = 1_024;

/** An id that a property carries unchanged. One that is too long, or has no UTF-8, is replaced by its hash. */
const portable = (eventId: string): string =>
  eventId.isWellFormed() && sizeInBytes(eventId) <= EVENT_ID_BYTES ? eventId : hash(eventId);

/** A value in a sentence. */
const shown = (value: PropertyValue['value']): string =>
  typeof value === 'string' ? JSON.stringify(cut(value, 40)) : value instanceof Uint8Array ? 'bytes' : String(value);

function readOrigin(value: unknown): Origin | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { id, seq, at, dead, ours, due } = value as Record<string, unknown>;
  if (typeof id !== 'string' || typeof seq !== 'string' || typeof at !== 'number') return undefined;
  return {
    messageId: id,
    sequenceNumber: seq,
    enqueuedUtc: at,
    carriesDeadLetterMarks: dead === true,
    isOurCopy: ours === true,
    notBeforeUtc: typeof due === 'number' ? due : undefined,
  };
}

/** The form in which an origin travels in `retry-origin`. */
export const writeOrigin = (origin: Origin): string =>
  JSON.stringify({
    id: origin.messageId,
    seq: origin.sequenceNumber,
    at: origin.enqueuedUtc,
    dead: origin.carriesDeadLetterMarks,
    ours: origin.isOurCopy,
    due: origin.notBeforeUtc,
  });

function readHistory(value: unknown): PastFailure[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isPastFailure).map(({ generation, attempt, at, code, message }) => {
    return { generation, attempt, at, code, message };
  });
}

/** What an earlier dead letter said, of a message that was re-sent with its marks: they never travel on a copy. */
function earlierDeadLetter(
  { properties, enqueuedUtc }: Delivery,
  place: { generation: number; attempt: number },
): PastFailure[] {
  const reason = properties.get(DEAD_LETTER_REASON);
  if (!reason) return [];
  const description = properties.get(DEAD_LETTER_DESCRIPTION)?.value;
  return [{ ...place, at: iso(enqueuedUtc), code: String(reason.value), message: String(description ?? '') }];
}

const isPastFailure = (entry: unknown): entry is PastFailure => {
  if (typeof entry !== 'object' || entry === null) return false;
  const { generation, attempt, at, code, message } = entry as Record<string, unknown>;
  return (
    typeof generation === 'number' &&
    typeof attempt === 'number' &&
    typeof at === 'string' &&
    typeof code === 'string' &&
    typeof message === 'string'
  );
};

/**
 * The instants that are fixed once a generation. Where the ledger has found a later generation than the message itself
 * gives (someone re-sent a dead letter), those on the message belong to the one before, and it starts anew.
 *
 * @param generation the ledger's
 */
export function lifeOf(
  envelope: Envelope,
  generation: number,
  windowInMs: number,
): { readonly firstEnqueuedUtc: number; readonly firstFailedUtc: number | undefined; readonly deadlineUtc: number } {
  if (generation > envelope.generation) {
    const firstEnqueuedUtc = envelope.origin.enqueuedUtc;
    return { firstEnqueuedUtc, firstFailedUtc: undefined, deadlineUtc: firstEnqueuedUtc + windowInMs };
  }
  const { firstEnqueuedUtc, firstFailedUtc, deadlineUtc } = envelope;
  return { firstEnqueuedUtc, firstFailedUtc, deadlineUtc: deadlineUtc ?? firstEnqueuedUtc + windowInMs };
}
