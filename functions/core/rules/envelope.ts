import type { Delivery, PropertyValue } from './delivery.ts';

/** Names of the properties that this consumer writes on copies, each in its one spelling. */
export const PROPERTY = {
  version: 'retry-version',
  consumer: 'retry-consumer',
  eventId: 'retry-event-id',
  attempt: 'retry-attempt',
  deferrals: 'retry-deferrals',
  origin: 'retry-origin',
  generation: 'replay-count',
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

/** What the broker and other tools write on a dead letter; never travels on a copy. */
export const DEAD_LETTER_REASON = 'DeadLetterReason';
export const DEAD_LETTER_DESCRIPTION = 'DeadLetterErrorDescription';

const INT32_MAX = 2 ** 31 - 1;

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

/** Whether a property is ours by its name, believed or not. */
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
  const believed = isBelieved ? delivery.properties : new Map<string, PropertyValue>();

  const count = (name: string): number => {
    const property = believed.get(name);
    if (!property) return 0;
    const value = typeof property.value === 'bigint' ? Number(property.value) : property.value;
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= INT32_MAX) return value;
    doubts.push(
      `${name} is ${property.type} ${String(property.value)}: expected an int from 0 to ${INT32_MAX}, taken as 0`,
    );
    return 0;
  };
  const text = (name: string): string | undefined => {
    const value = believed.get(name)?.value;
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const instant = (name: string): number | undefined => {
    const written = text(name);
    if (written === undefined) return undefined;
    const utc = Date.parse(written);
    if (Number.isFinite(utc)) return utc;
    doubts.push(`${name} is ${JSON.stringify(written.slice(0, 40))}: expected ISO 8601, left out`);
    return undefined;
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
  const deferrals = count(PROPERTY.deferrals);
  return {
    eventId: text(PROPERTY.eventId) ?? compositionEventId ?? (delivery.messageId || unnamedEventId(delivery)),
    attempt: count(PROPERTY.attempt) + 1,
    generation: count(PROPERTY.generation),
    deferrals,
    isBelieved,
    origin: (deferrals > 0 ? readOrigin(json(PROPERTY.origin)) : undefined) ?? self,
    firstEnqueuedUtc: instant(PROPERTY.firstEnqueued) ?? delivery.enqueuedUtc,
    firstFailedUtc: instant(PROPERTY.firstFailed),
    deadlineUtc: instant(PROPERTY.deadline),
    history: readHistory(json(PROPERTY.history)),
    doubts,
  };
}

/** The id of an event whose producer named none: where and when the broker took it in. */
const unnamedEventId = (delivery: Delivery): string =>
  `${delivery.entity}:${delivery.sequenceNumber}:${delivery.enqueuedUtc}`;

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
  return value.filter(
    (entry): entry is PastFailure =>
      typeof entry === 'object' &&
      entry !== null &&
      typeof entry.generation === 'number' &&
      typeof entry.attempt === 'number' &&
      typeof entry.at === 'string' &&
      typeof entry.code === 'string' &&
      typeof entry.message === 'string',
  );
}
