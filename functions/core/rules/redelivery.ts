import type { LastFailure } from './dead-letter.ts';
import { ERROR_CODE_BYTES, ERROR_MESSAGE_BYTES, extendHistory, writeHistory } from './dead-letter.ts';
import { type Delivery, int, type PropertyValue, string } from './delivery.ts';
import {
  DEAD_LETTER_DESCRIPTION,
  DEAD_LETTER_REASON,
  type Envelope,
  INT32_MAX,
  isReserved,
  lifeOf,
  PROPERTY,
  writeOrigin,
} from './envelope.ts';
import { hash } from './hash.ts';
import { safeText } from './redact.ts';
import { iso } from './text.ts';

/** What a delayed copy changes of the message it is cut from; all else, the body above all, stays byte for byte. */
export interface Copy {
  readonly messageId: string;
  readonly dueUtc: number;
  /** Rest of the absolute time to live, counted from `dueUtc`; undefined where the message does not expire. */
  readonly timeToLiveInMs: number | undefined;
  /** Application properties to leave out. */
  readonly drop: readonly string[];
  /** Application properties to write, in this order, after those that stay. */
  readonly set: ReadonlyMap<string, PropertyValue>;
}

/** Who writes the copy, and where it stands in the event's life. */
export interface Lineage {
  /** Entity and consumer, as in `retry-consumer`. */
  readonly consumer: string;
  readonly policyName: string;
  readonly generation: number;
  /** The attempt that has failed, or that a deferral puts off. */
  readonly attempt: number;
  readonly deadlineUtc: number;
}

const WIRE_VERSION = 1;
const MESSAGE_ID_LENGTH = 128;
const TRACE_PROPERTIES = ['Diagnostic-Id', 'traceparent', 'tracestate'];

/**
 * The copy that carries an event to its next attempt.
 *
 * @param traceparent W3C trace context of the span that sends it, where there is one
 */
export function redeliveryOf(
  delivery: Delivery,
  envelope: Envelope,
  lineage: Lineage,
  plan: { dueUtc: number; failure: LastFailure },
  nowUtc: number,
  traceparent?: string,
): Copy {
  const { attempt, generation } = lineage;
  const { code, message } = plan.failure;
  const failed = iso(nowUtc);
  const history = extendHistory(envelope.history, { generation, attempt, at: failed, code, message });
  const { firstFailedUtc } = lifeOf(envelope, generation, 0);
  const set = new Map<string, PropertyValue>([
    ...identity(envelope, lineage, attempt),
    [PROPERTY.firstFailed, string(firstFailedUtc === undefined ? failed : iso(firstFailedUtc))],
    [PROPERTY.lastFailed, string(failed)],
    [PROPERTY.notBefore, string(iso(plan.dueUtc))],
    [PROPERTY.errorCode, string(safeText(code, ERROR_CODE_BYTES))],
    [PROPERTY.errorMessage, string(safeText(message, ERROR_MESSAGE_BYTES))],
    [PROPERTY.history, string(history)],
  ]);
  return finish(delivery, copyMessageId(lineage, envelope.eventId, attempt), plan.dueUtc, set, traceparent);
}

/**
 * The copy that puts a delivery off without using an attempt: the event is busy elsewhere, or the store is down. It
 * stands for the same message (`retry-origin`) and keeps the place that this message gives itself.
 */
export function deferralOf(
  delivery: Delivery,
  envelope: Envelope,
  lineage: Lineage,
  dueUtc: number,
  traceparent?: string,
): Copy {
  const deferrals = Math.min(envelope.deferrals + 1, INT32_MAX);
  const set = new Map<string, PropertyValue>([
    ...identity(envelope, lineage, envelope.attempt - 1),
    [PROPERTY.deferrals, int(deferrals)],
    [PROPERTY.origin, string(writeOrigin(envelope.origin))],
    [PROPERTY.notBefore, string(iso(dueUtc))],
  ]);
  if (envelope.firstFailedUtc !== undefined) set.set(PROPERTY.firstFailed, string(iso(envelope.firstFailedUtc)));
  for (const name of [PROPERTY.lastFailed, PROPERTY.errorCode, PROPERTY.errorMessage]) {
    const property = envelope.isBelieved ? delivery.properties.get(name) : undefined;
    // Tools that re-send a message make a timestamp of an instant, say; whatever is no text of ours stays behind.
    if (property?.type === 'string') set.set(name, property);
  }
  if (envelope.history.length > 0) set.set(PROPERTY.history, string(writeHistory(envelope.history)));
  const { sequenceNumber } = envelope.origin;
  const messageId = copyMessageId(lineage, envelope.eventId, envelope.attempt - 1, { deferrals, sequenceNumber });
  return finish(delivery, messageId, dueUtc, set, traceparent);
}

const identity = (envelope: Envelope, lineage: Lineage, retryAttempt: number): [string, PropertyValue][] => [
  [PROPERTY.version, int(WIRE_VERSION)],
  [PROPERTY.consumer, string(lineage.consumer)],
  [PROPERTY.eventId, string(envelope.eventId)],
  [PROPERTY.attempt, int(retryAttempt)],
  ...(lineage.generation > 0 ? [[PROPERTY.generation, int(lineage.generation)] as [string, PropertyValue]] : []),
  ...(envelope.edit === undefined ? [] : [[PROPERTY.edit, string(envelope.edit)] as [string, PropertyValue]]),
  [PROPERTY.firstEnqueued, string(iso(lifeOf(envelope, lineage.generation, 0).firstEnqueuedUtc))],
  [PROPERTY.deadline, string(iso(lineage.deadlineUtc))],
  [PROPERTY.policy, string(lineage.policyName)],
];

function finish(
  delivery: Delivery,
  messageId: string,
  dueUtc: number,
  set: Map<string, PropertyValue>,
  traceparent: string | undefined,
): Copy {
  if (traceparent) {
    set.set('Diagnostic-Id', string(traceparent));
    set.set('traceparent', string(traceparent));
  }
  const neverTravel = new Set([DEAD_LETTER_REASON, DEAD_LETTER_DESCRIPTION, ...TRACE_PROPERTIES]);
  return {
    messageId,
    dueUtc,
    // At least a millisecond: 0 would mean for ever. Whoever decided to redeliver saw that it does not expire before.
    timeToLiveInMs:
      delivery.expiresUtc === undefined ? undefined : Math.max(1, Math.floor(delivery.expiresUtc - dueUtc)),
    drop: [...delivery.properties.keys()].filter((name) => isReserved(name) || neverTravel.has(name)),
    set,
  };
}

/**
 * `<eventId>~r<n>~<check>` with n the copy's `retry-attempt`; `~p<g>r<n>~` in generation g; `d<k>` before the check for
 * a deferral. Deterministic: duplicate detection absorbs a copy scheduled twice and never eats a legitimate one. An
 * event id that leaves no room is replaced by its hash. At most 128 characters.
 */
export function copyMessageId(
  { consumer, generation }: Pick<Lineage, 'consumer' | 'generation'>,
  eventId: string,
  retryAttempt: number,
  deferral?: { deferrals: number; sequenceNumber: string },
): string {
  const check = hash(
    consumer,
    eventId,
    generation,
    retryAttempt,
    deferral?.deferrals ?? 0,
    deferral?.sequenceNumber ?? '',
  ).slice(0, 8);
  const suffix = `~${generation > 0 ? `p${generation}` : ''}r${retryAttempt}${deferral ? `d${deferral.deferrals}` : ''}~${check}`;
  const readable = eventId.isWellFormed() && eventId.length + suffix.length <= MESSAGE_ID_LENGTH;
  return `${readable ? eventId : hash(eventId)}${suffix}`;
}
