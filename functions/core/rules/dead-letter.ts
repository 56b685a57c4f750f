import { int, type PropertyValue, string } from './delivery.ts';
import { type Envelope, lifeOf, type PastFailure, PROPERTY } from './envelope.ts';
import { safeText } from './redact.ts';
import { cut, iso, sizeInBytes } from './text.ts';

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
  CopyRefused: {
    replay: 'after-fix',
    hint: 'The service takes no copy of this message, for what the message is: the description says why.',
  },
  ReplayLimitExceeded: { replay: 'never', hint: 'Replayed too often: handle it by hand.' },
} as const satisfies Record<string, { replay: Replay; hint: string }>;

/** A reason code of this consumer; handlers and the broker have others. */
export type ReasonCode = keyof typeof REASONS;

/** The broker refuses a longer reason or description; counted in bytes to be on the safe side of characters. */
const REASON_BYTES = 63;
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
 * The dead letter of an event: what failed, attempt k of n, first and last failure, and the history. Secrets are
 * redacted, every text is cut to its limit, and the reason is one line that is never empty.
 *
 * @param place which attempt this is, of how many; the generation is the ledger's
 * @param nowUtc on the broker's clock, as far as it is known
 */
export function deadLetterOf(
  envelope: Envelope,
  failure: LastFailure,
  place: { attempt: number; maxAttempts: number; generation: number },
  nowUtc: number,
): DeadLetter {
  const { attempt, maxAttempts, generation } = place;
  const firstFailed = iso(lifeOf(envelope, generation, 0).firstFailedUtc ?? nowUtc);
  const lastFailed = iso(nowUtc);
  const { code, message } = failure;
  const description =
    `attempt ${attempt} of ${maxAttempts}, first failed ${firstFailed}, ` +
    `last failed ${lastFailed}: ${code}: ${message}`;
  const properties = new Map<string, PropertyValue>([
    [PROPERTY.errorCode, string(safeText(code, ERROR_CODE_BYTES))],
    [PROPERTY.errorMessage, string(safeText(message, ERROR_MESSAGE_BYTES))],
    [PROPERTY.firstFailed, string(firstFailed)],
    [PROPERTY.lastFailed, string(lastFailed)],
    [PROPERTY.history, string(extendHistory(envelope.history, { generation, attempt, at: lastFailed, code, message }))],
  ]);
  placeOf(envelope, generation).forEach((value, name) => {
    properties.set(name, value);
  });
  const reason = safeText(failure.reason, REASON_BYTES).replace(/\s+/g, ' ').trim();
  return {
    reason: reason === '' ? UNNAMED_REASON : reason,
    description: safeText(description, DESCRIPTION_BYTES),
    properties,
  };
}

/** The dead letter that an earlier delivery recorded and did not settle. */
export const repeatedDeadLetterOf = (
  envelope: Envelope,
  recorded: Pick<DeadLetter, 'reason' | 'description'>,
  generation: number,
): DeadLetter => ({ ...recorded, properties: placeOf(envelope, generation) });

/**
 * What a dead letter must say for the day when someone sends it again: its generation, or a replay would take that for
 * new; and of a deferral that it defers nothing any more, or it would be judged by its origin, whose time is over.
 */
function placeOf({ deferrals }: Envelope, generation: number): Map<string, PropertyValue> {
  const properties = new Map<string, PropertyValue>();
  if (generation > 0) properties.set(PROPERTY.generation, int(generation));
  if (deferrals > 0) properties.set(PROPERTY.deferrals, int(0));
  return properties;
}

/** For an error whose own code says nothing. */
const UNNAMED_REASON: ReasonCode = 'UnclassifiedFailure';

/** Longest `retry-error-code`, in bytes of UTF-8 and so in characters. */
export const ERROR_CODE_BYTES = 128;
/** Longest `retry-error-message`, counted alike. */
export const ERROR_MESSAGE_BYTES = 512;

const HISTORY_BYTES = 4_096;
const FIRST_FAILURES = 3;
const LAST_FAILURES = 7;

/** The history with one more failure: the first few and the last few are kept, in at most 4 KB of JSON. */
export const extendHistory = (history: readonly PastFailure[], failure: PastFailure): string =>
  writeHistory([...history, failure]);

/**
 * The history as it travels, secrets redacted. Where there is no room the oldest goes that is none of the first few;
 * the newest stays.
 */
export function writeHistory(history: readonly PastFailure[]): string {
  const kept = history
    .filter((_, index) => index < FIRST_FAILURES || index >= history.length - LAST_FAILURES)
    .map(({ generation, attempt, at, code, message }) => ({
      generation,
      attempt,
      at: cut(at, 32),
      code: safeText(code, 64),
      message: safeText(message, 200),
    }));
  let written = JSON.stringify(kept);
  // Ends before it reaches the newest: six entries fit, however long their texts are as JSON.
  while (sizeInBytes(written) > HISTORY_BYTES) {
    kept.splice(FIRST_FAILURES, 1);
    written = JSON.stringify(kept);
  }
  return written;
}
