import type { Report } from '../../functions/core/pipeline/ports.ts';

/** One delivery of an event, as `--json` prints it. */
export interface AttemptRow {
  readonly attempt: number;
  /** Since the messages were sent, in ms. */
  readonly atMs: number;
  readonly outcome: Exclude<Report['outcome'], 'released'>;
  readonly reason: string | null;
  /** Until the next attempt, in ms. */
  readonly delayMs: number | null;
  readonly tries: number;
}

export interface EventRow {
  readonly messageId: string;
  readonly eventId: string;
  readonly attempts: readonly AttemptRow[];
  readonly final: 'completed' | 'dead-lettered' | 'pending';
}

export interface DeadLetterRow {
  readonly messageId: string;
  readonly reason: string | null;
  readonly description: string | null;
  readonly applicationProperties: Readonly<Record<string, unknown>>;
  readonly bodyBase64: string;
}

/** What `npm start -- --json` prints. */
export interface Result {
  readonly events: readonly EventRow[];
  readonly deadLetterQueue: readonly DeadLetterRow[];
  readonly charges: readonly { readonly orderId: string; readonly count: number }[];
  readonly ok: boolean;
}

/** A report with the time of its arrival. */
export interface TimedReport {
  readonly atMs: number;
  readonly report: Report;
}

/** A delivery that the host's end cut short was left, as far as the scenario is concerned. */
const rowOf = ({ atMs, report }: TimedReport): AttemptRow => ({
  attempt: report.attempt,
  atMs,
  outcome: report.outcome === 'released' ? 'left' : report.outcome,
  reason: report.reason ?? null,
  delayMs: report.delayInMs ?? null,
  tries: report.tries,
});

/**
 * One row for each messageId, in the order of sending.
 *
 * @param waiting whether copies or the message itself are still in the queue
 */
export function eventRows(
  messageIds: readonly string[],
  reports: readonly TimedReport[],
  deadLetters: readonly DeadLetterRow[],
  waiting: ReadonlySet<string>,
): EventRow[] {
  return [...new Set(messageIds)].map((messageId) => {
    const own = reports.filter(({ report }) => report.eventId === messageId);
    const outcomes = new Set(own.map(({ report }) => report.outcome));
    // An effect is an effect, whatever happened to later copies.
    const completed = outcomes.has('succeeded') || outcomes.has('duplicate');
    const isDead = deadLetters.some(
      (letter) => letter.messageId === messageId || letter.messageId.startsWith(`${messageId}~`),
    );
    const final = waiting.has(messageId) ? 'pending' : completed ? 'completed' : isDead ? 'dead-lettered' : 'pending';
    return { messageId, eventId: messageId, attempts: own.map(rowOf), final };
  });
}
