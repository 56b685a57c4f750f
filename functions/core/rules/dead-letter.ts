import { int, type PropertyValue, string } from './delivery.ts';
import { type Envelope, type PastFailure, PROPERTY } from './envelope.ts';
import { cut, iso } from './text.ts';

/** What replaying a dead letter can achieve. */
export type Replay = 'now' | 'after-fix' | 'as a new event' | 'never';

/**
 * The reason codes that this consumer writes; handlers add their own by `PermanentError`. Documents and the operator
 * tools derive from this table.
 */
export const REASONS = {
  MalformedBody: { replay: 'after-fix', hint: 'The bytes cannot be decoded or parsed: ask the producer.' },
  SchemaViolation: {
    replay: 'after-fix',
    hint: 'The schema refused the value at the named paths: fix the producer, or widen the schema.',
  },
  UnclassifiedFailure: {
    replay: 'after-fix',
    hint: 'No rule knows this error: fix the handler, or add a rule to the policy.',
  },
  AttemptsExhausted: {
    replay: 'now',
    hint: 'The last permitted attempt failed for a passing reason: replay when the other side is well.',
  },
  RetryWindowExceeded: {
    replay: 'now',
    hint: 'The next attempt would fall after the retry window: replay if it is still worth doing.',
  },
  TimeToLiveExceeded: {
    replay: 'now',
    hint: 'The message would expire while waiting: replay if it is still worth doing.',
  },
  PoisonMessage: {
    replay: 'after-fix',
    hint: 'Runs end without an outcome (crash, out of memory, timeout): find the cause before a replay.',
  },
  DeliveriesExhausted: {
    replay: 'now',
    hint: 'The last delivery before the limit of the queue: look for trouble with sending or locks.',
  },
  IdempotencyConflict: {
    replay: 'as a new event',
    hint: 'The same event id came with another content: the producer reuses ids.',
  },
  MessageTooLarge: { replay: 'after-fix', hint: 'There is no room for the retry properties: shrink the message.' },
  ReplayLimitExceeded: { replay: 'never', hint: 'Replayed too often: handle it by hand.' },
} as const satisfies Record<string, { replay: Replay; hint: string }>;

export type ReasonCode = keyof typeof REASONS;

/** The broker refuses a longer reason or description; counted in bytes to be on the safe side of characters. */
const REASON_BYTES = 64;
const DESCRIPTION_BYTES = 4_096;

/** What goes to the dead-letter queue with the message; within the service's limits whatever the error was. */
export interface DeadLetter {
  readonly reason: string;
  readonly description: string;
  readonly properties: ReadonlyMap<string, PropertyValue>;
}

/** What the last failure was, for a dead letter's texts. */
export interface LastFailure {
  readonly reason: string;
  readonly code: string;
  readonly message: string;
}

/**
 * The dead letter of an event: what failed, attempt k of n, first and last failure.
 *
 * @param place which attempt this is, of how many; the generation is the ledger's
 */
export function deadLetterOf(
  envelope: Envelope,
  failure: LastFailure,
  place: { attempt: number; maxAttempts: number; generation: number },
  nowUtc: number,
): DeadLetter {
  const firstFailedUtc = envelope.firstFailedUtc ?? nowUtc;
  const description =
    `attempt ${place.attempt} of ${place.maxAttempts}, first failed ${iso(firstFailedUtc)}, ` +
    `last failed ${iso(nowUtc)}: ${failure.code}: ${failure.message}`;
  const properties = new Map<string, PropertyValue>([
    [PROPERTY.errorCode, string(cut(failure.code, 128))],
    [PROPERTY.errorMessage, string(cut(failure.message, 512))],
    [PROPERTY.firstFailed, string(iso(firstFailedUtc))],
    [PROPERTY.lastFailed, string(iso(nowUtc))],
  ]);
  if (place.generation > 0) properties.set(PROPERTY.generation, int(place.generation));
  return { reason: cut(failure.reason, REASON_BYTES), description: cut(description, DESCRIPTION_BYTES), properties };
}

const HISTORY_BYTES = 4_096;
const FIRST_FAILURES = 3;
const LAST_FAILURES = 7;

/** The history with one more failure: the first few and the last few are kept, in at most 4 KB of JSON. */
export function extendHistory(history: readonly PastFailure[], failure: PastFailure): string {
  const entry = { ...failure, code: cut(failure.code, 64), message: cut(failure.message, 200) };
  const all = [...history, entry];
  const kept =
    all.length <= FIRST_FAILURES + LAST_FAILURES
      ? all
      : [...all.slice(0, FIRST_FAILURES), ...all.slice(-LAST_FAILURES)];
  while (kept.length > 1) {
    const written = JSON.stringify(kept);
    if (Buffer.byteLength(written) <= HISTORY_BYTES) return written;
    kept.splice(Math.floor(kept.length / 2), 1);
  }
  return JSON.stringify([entry]);
}
