import { type EventKey, LedgerError } from '../../pipeline/ports.ts';
import type { LedgerRecord, RecordKind } from '../../rules/ledger.ts';
import { cut } from '../../rules/text.ts';
import type { Columns } from './table-store.ts';
import type { StoredRecord, Unsent } from './transitions.ts';

/** Of the entity's layout; builds that share a table during a rolling update read each other's records. */
const VERSION = 1;

/** A string property holds 64 KiB and an entity 1 MiB; these leave room for every column at once. */
const ID_BYTES = 2_048;
const REASON_BYTES = 256;
const TEXT_BYTES = 4_096;
/** Compared with MessageIds later, so it is kept as it is; the broker ends them at 128 characters. */
const MESSAGE_ID_CHARACTERS = 512;

const KINDS = {
  inProgress: true,
  released: true,
  scheduled: true,
  unsent: true,
  deadLettering: true,
  deadLettered: true,
  completed: true,
} as const satisfies Record<RecordKind, true>;

/**
 * The record as columns, readable in any table explorer. What is absent has no column; instants are dates. The raw id
 * is for people, the keys alone identify.
 *
 * @param follows for an outcome, the version that it replaces, by which its own writer knows it again; a claim is known
 *   by its owner
 */
export function toColumns(key: EventKey, { record, unsent, dueUtc }: StoredRecord, follows?: string): Columns {
  const { deadLetter } = record;
  return {
    version: VERSION,
    consumer: cut(key.consumer, ID_BYTES),
    eventId: cut(key.eventId, ID_BYTES),
    kind: record.kind,
    generation: record.generation,
    attempt: record.attempt,
    opener: record.opener,
    sequenceNumber: record.sequenceNumber,
    owner: record.owner,
    takeovers: record.takeovers,
    since: new Date(record.sinceUtc),
    ...(follows !== undefined && { follows }),
    ...(record.fingerprint !== undefined && { fingerprint: record.fingerprint }),
    ...(record.result !== undefined && { result: record.result }),
    ...(record.leaseEndUtc > 0 && { leaseEnd: new Date(record.leaseEndUtc) }),
    ...(dueUtc !== undefined && { due: new Date(dueUtc) }),
    ...(deadLetter && {
      deadMessageId: deadLetter.messageId.slice(0, MESSAGE_ID_CHARACTERS).toWellFormed(),
      reason: cut(deadLetter.reason, REASON_BYTES),
      description: cut(deadLetter.description, TEXT_BYTES),
    }),
    ...(unsent && {
      unsentAttempt: unsent.attempt,
      unsentDue: new Date(unsent.copy.dueUtc),
      unsentCode: cut(unsent.copy.code, REASON_BYTES),
      unsentMessage: cut(unsent.copy.message, TEXT_BYTES),
    }),
  };
}

/**
 * Reads a record back; a column that is missing or of another type counts as empty.
 *
 * @throws LedgerError where the kind is unknown: a newer build wrote it, and to guess could run an effect twice
 */
export function fromColumns(columns: Readonly<Record<string, unknown>>): StoredRecord {
  const text = (name: string): string => (typeof columns[name] === 'string' ? columns[name] : '');
  const whole = (name: string): number => (Number.isInteger(columns[name]) ? (columns[name] as number) : 0);
  const instant = (name: string): number | undefined =>
    columns[name] instanceof Date ? columns[name].getTime() : undefined;

  const kind = text('kind');
  if (!isKind(kind)) throw new LedgerError('unavailable', `the ledger holds a record of the unknown kind "${kind}"`);
  const { fingerprint, result } = columns;
  const record: LedgerRecord = {
    kind,
    generation: whole('generation'),
    attempt: whole('attempt'),
    opener: text('opener'),
    sequenceNumber: text('sequenceNumber'),
    owner: text('owner'),
    leaseEndUtc: instant('leaseEnd') ?? 0,
    takeovers: whole('takeovers'),
    ...(kind === 'inProgress' && columns['unsentAttempt'] !== undefined && { isToSend: true }),
    sinceUtc: instant('since') ?? 0,
    deadLetter:
      columns['deadMessageId'] === undefined
        ? undefined
        : { messageId: text('deadMessageId'), reason: text('reason'), description: text('description') },
    ...(typeof fingerprint === 'string' && { fingerprint }),
    ...(typeof result === 'string' && { result }),
  };
  const unsent: Unsent | undefined =
    columns['unsentAttempt'] === undefined
      ? undefined
      : {
          attempt: whole('unsentAttempt'),
          copy: { dueUtc: instant('unsentDue') ?? 0, code: text('unsentCode'), message: text('unsentMessage') },
        };
  return { record, unsent, dueUtc: instant('due') };
}

const isKind = (text: string): text is RecordKind => Object.hasOwn(KINDS, text);
