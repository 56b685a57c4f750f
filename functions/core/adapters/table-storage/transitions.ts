import type { Claim, Entry, Hold, UnsentCopy } from '../../pipeline/ports.ts';
import { isSameContent } from '../../rules/fingerprint.ts';
import { type Claimant, judge, type LedgerRecord } from '../../rules/ledger.ts';
import type { ServerTime } from './server-clock.ts';

/** A copy that could not be sent, and the attempt that it is. */
export interface Unsent {
  readonly attempt: number;
  readonly copy: UnsentCopy;
}

/** All that is kept of an event: its record, and what the pipeline does not see of it. */
export interface StoredRecord {
  readonly record: LedgerRecord;
  /** Kept from `unsent` on until the copy is sent, whoever claims to send it meanwhile. */
  readonly unsent: Unsent | undefined;
  /** When the copy of a `scheduled` record becomes active. */
  readonly dueUtc: number | undefined;
}

/** What a claim comes to: a record to write, and the answer once it is written; or an answer that needs no write. */
export type ClaimStep =
  | { readonly kind: 'write'; readonly next: StoredRecord }
  | { readonly kind: 'repeatDeadLetter'; readonly reason: string; readonly description: string }
  | { readonly kind: 'refuse'; readonly claim: Extract<Claim, { kind: 'busy' | 'duplicate' | 'stale' | 'conflict' }> };

/** The step from a record to a claim of it, by the table of design section 7. */
export function claimStep(
  stored: StoredRecord | undefined,
  claimant: Claimant,
  leaseInMs: number,
  now: ServerTime,
): ClaimStep {
  const fingerprint = stored?.record.fingerprint;
  if (stored && fingerprint !== undefined && !isSameContent(fingerprint, claimant.fingerprint)) {
    // Its content was changed on purpose, and becomes the event's from the generation on that it opens.
    const isEditedReplay = claimant.edit !== undefined && claimant.generation > stored.record.generation;
    if (!isEditedReplay) return { kind: 'refuse', claim: { kind: 'conflict', fingerprint } };
  }
  const verdict = judge(stored?.record, claimant, now.earliestUtc);
  const lease = { leaseEndUtc: now.latestUtc + leaseInMs, sinceUtc: now.latestUtc };
  switch (verdict.kind) {
    case 'run': {
      // Asked again by the holder, whose reply was lost: the same hold, its lease from now on.
      if (stored && isHeldBy(stored.record, claimant.owner, now)) {
        return { kind: 'write', next: { ...stored, record: { ...stored.record, ...lease } } };
      }
      const { generation, attempt, opener, takeovers } = verdict;
      return {
        kind: 'write',
        next: inProgress(stored, claimant, { generation, attempt, opener, takeovers, ...lease }),
      };
    }
    case 'sendAgain': {
      const { generation, attempt } = verdict;
      const opener = stored?.record.opener ?? claimant.origin.sequenceNumber;
      // The attempt that has failed, as if its run had only now come to send the copy.
      const next = inProgress(stored, claimant, { generation, attempt: attempt - 1, opener, takeovers: 0, ...lease });
      return { kind: 'write', next: { ...next, record: { ...next.record, isToSend: true }, unsent: stored?.unsent } };
    }
    case 'busy':
      return {
        kind: 'refuse',
        claim: { kind: 'busy', leaseEndsInMs: verdict.leaseEndUtc - now.earliestUtc, isNext: verdict.isNext },
      };
    case 'repeatDeadLetter':
      return verdict;
    case 'duplicate':
      return { kind: 'refuse', claim: { kind: 'duplicate', result: stored?.record.result } };
    case 'stale':
      return { kind: 'refuse', claim: verdict };
  }
}

const isHeldBy = (record: LedgerRecord, owner: string, now: ServerTime): boolean =>
  record.kind === 'inProgress' && record.owner === owner && record.leaseEndUtc > now.earliestUtc;

const inProgress = (
  stored: StoredRecord | undefined,
  { owner, origin, fingerprint }: Claimant,
  place: Pick<LedgerRecord, 'generation' | 'attempt' | 'opener' | 'takeovers' | 'leaseEndUtc' | 'sinceUtc'>,
): StoredRecord => ({
  record: {
    kind: 'inProgress',
    ...place,
    owner,
    sequenceNumber: origin.sequenceNumber,
    // Where the broker dead-letters the message that was brought back, nobody writes it down: it is known by this.
    deadLetter: stored?.record.deadLetter,
    fingerprint,
  },
  unsent: undefined,
  dueUtc: undefined,
});

/** The answer to a claim that has been written. */
export function claimOf(hold: Hold, { unsent }: StoredRecord): Claim {
  return unsent ? { kind: 'sendAgain', hold, attempt: unsent.attempt, unsent: unsent.copy } : { kind: 'run', hold };
}

/** The record after an entry under a hold. */
export function recordStep(held: LedgerRecord, entry: Entry, nowUtc: number): StoredRecord {
  const after = { ...held, kind: entry.kind, owner: '', leaseEndUtc: 0, isToSend: undefined, sinceUtc: nowUtc };
  const plain = { record: after, unsent: undefined, dueUtc: undefined };
  const goneOn = { ...after, deadLetter: undefined };
  switch (entry.kind) {
    case 'completed':
      return { ...plain, record: { ...goneOn, result: entry.result } };
    case 'released':
      return plain;
    case 'scheduled':
      return { ...plain, record: { ...goneOn, attempt: entry.attempt, takeovers: 0 }, dueUtc: entry.dueUtc };
    case 'unsent': {
      const { attempt, copy } = entry;
      return { ...plain, record: { ...goneOn, attempt, takeovers: 0 }, unsent: { attempt, copy } };
    }
    case 'deadLettering': {
      const { messageId, reason, description } = entry;
      return { ...plain, record: { ...after, deadLetter: { messageId, reason, description } } };
    }
    case 'deadLettered': {
      const { deadLetter } = held;
      const { messageId = deadLetter?.messageId ?? '' } = entry;
      return {
        ...plain,
        // A message sent since the dead-lettering is known by that time; the confirmation must not move it.
        record: { ...after, sinceUtc: held.sinceUtc, deadLetter: deadLetter && { ...deadLetter, messageId } },
      };
    }
  }
}
