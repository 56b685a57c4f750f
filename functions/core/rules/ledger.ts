import type { Origin } from './envelope.ts';

/** What the ledger can say of an event. `unsent`: the copy of attempt n could not be sent yet. */
export type RecordKind =
  | 'inProgress'
  | 'released'
  | 'scheduled'
  | 'unsent'
  | 'deadLettering'
  | 'deadLettered'
  | 'completed';

/** An event's one record. Instants are epoch milliseconds on the store's clock. */
export interface LedgerRecord {
  readonly kind: RecordKind;
  readonly generation: number;
  /** The attempt in progress, released, dead-lettered or completed; for `scheduled` and `unsent` the one to come. */
  readonly attempt: number;
  /** Sequence number of the message that opened the generation. */
  readonly opener: string;
  /** Sequence number of the message that claimed it last; for a deferral, of the message that this stands for. */
  readonly sequenceNumber: string;
  /** Lock token of the delivery that holds the lease; empty where none does. */
  readonly owner: string;
  readonly leaseEndUtc: number;
  /** How often a lapsed lease of this attempt was taken over: runs that ended without an outcome. */
  readonly takeovers: number;
  /** Whether the lease is to send the copy of the next attempt: this one has failed and does not run again. */
  readonly isToSend?: boolean | undefined;
  /** Time of the last write; the confirmation of a dead letter does not move it. */
  readonly sinceUtc: number;
  /** What was dead-lettered, where something was; kept until an attempt of the next generation has ended. */
  readonly deadLetter:
    | { readonly messageId: string; readonly reason: string; readonly description: string }
    | undefined;
  /** Hash of the event's content, where the event defines one. */
  readonly fingerprint?: string | undefined;
  /** What the handler returned, as JSON, where it returned something. */
  readonly result?: string | undefined;
}

/** A delivery as the ledger sees it: whom it stands for, and where in the event's life it places itself. */
export interface Claimant {
  readonly generation: number;
  readonly attempt: number;
  readonly origin: Origin;
  /** The delivery's lock token. */
  readonly owner: string;
  /** Hash of the event's content, where the event defines one. */
  readonly fingerprint?: string | undefined;
  /** Names the edit of a replay whose content was changed. */
  readonly edit?: string | undefined;
}

/** The ledger's answer to a delivery. */
export type Verdict =
  /** Claim it and run attempt `attempt` of `generation`; `takeovers` runs of it ended without an outcome. */
  | {
      readonly kind: 'run';
      readonly generation: number;
      readonly attempt: number;
      readonly takeovers: number;
      readonly opener: string;
    }
  /** Claim it, send the copy of `attempt` again and record it; do not run. */
  | { readonly kind: 'sendAgain'; readonly generation: number; readonly attempt: number }
  /** Put it off. `isNext`: the holder's own next attempt, so the holder is about to finish. */
  | { readonly kind: 'busy'; readonly leaseEndUtc: number; readonly isNext: boolean }
  /** Dead-letter it with the recorded reason, do not run, then confirm. */
  | { readonly kind: 'repeatDeadLetter'; readonly reason: string; readonly description: string }
  | { readonly kind: 'duplicate' }
  | { readonly kind: 'stale' };

/** Activation of a scheduled message is this punctual at worst; whatever was enqueued later was sent by someone. */
const CLEARLY_LATER_IN_MS = 10_000;

/**
 * The table of design section 7: what the ledger answers to a delivery.
 *
 * @param record the event's record, if there is one
 * @param nowUtc the store's clock
 */
export function judge(record: LedgerRecord | undefined, claimant: Claimant, nowUtc: number): Verdict {
  if (!record) {
    const { generation, attempt, origin } = claimant;
    return { kind: 'run', generation, attempt, takeovers: 0, opener: origin.sequenceNumber };
  }
  if (record.kind === 'completed') return { kind: 'duplicate' };

  const { generation, attempt } = place(record, claimant);
  const order = generation - record.generation || attempt - record.attempt;
  const opener = generation > record.generation ? claimant.origin.sequenceNumber : record.opener;
  const run = (takeovers: number): Verdict => ({ kind: 'run', generation, attempt, takeovers, opener });
  const sendAgain = (next: number): Verdict => ({ kind: 'sendAgain', generation: record.generation, attempt: next });

  switch (record.kind) {
    case 'inProgress':
      if (record.leaseEndUtc > nowUtc) {
        if (record.owner === claimant.owner)
          return record.isToSend ? sendAgain(record.attempt + 1) : run(record.takeovers);
        const isNext = generation === record.generation && attempt === record.attempt + 1;
        return { kind: 'busy', leaseEndUtc: record.leaseEndUtc, isNext };
      }
      // Whoever was to send it has died, or was too slow: the copy is as unsent as before.
      if (record.isToSend && generation === record.generation && order <= 0) {
        return sendAgain(record.attempt + 1);
      }
      if (order < 0) return { kind: 'stale' };
      return run(order === 0 ? record.takeovers + 1 : 0);
    case 'deadLettering':
    case 'deadLettered': {
      if (generation > record.generation) return run(0);
      if (record.kind === 'deadLettered') return { kind: 'stale' };
      const { reason, description } = record.deadLetter ?? { reason: 'AttemptsExhausted', description: '' };
      return { kind: 'repeatDeadLetter', reason, description };
    }
    case 'unsent':
      if (generation === record.generation && attempt < record.attempt) {
        return sendAgain(record.attempt);
      }
      return order < 0 ? { kind: 'stale' } : run(0);
    case 'released':
      return order < 0 ? { kind: 'stale' } : run(order === 0 ? record.takeovers : 0);
    case 'scheduled':
      return order < 0 ? { kind: 'stale' } : run(0);
  }
}

/** Where a delivery stands in the event's life, as the record knows it: its generation, and its attempt in that. */
function place(record: LedgerRecord, claimant: Claimant): { generation: number; attempt: number } {
  const { generation, attempt, origin } = claimant;
  if (generation > record.generation) return { generation, attempt };
  if (origin.sequenceNumber === record.opener) {
    // Where it opened this generation by hand, what it says of its attempt belongs to the one before.
    return { generation: record.generation, attempt: generation === record.generation ? attempt : 1 };
  }
  if (isRevival(record, origin)) return { generation: record.generation + 1, attempt: 1 };
  return { generation, attempt };
}

/**
 * Whether someone brought the event back without our tools: operators re-send dead letters with the portal, producers
 * send an event again, and none of them knows our properties. To complete such a message as stale would lose it.
 */
function isRevival(record: LedgerRecord, origin: Origin): boolean {
  if (origin.carriesDeadLetterMarks) return true;
  if (!origin.isOurCopy) return origin.enqueuedUtc > record.sinceUtc;
  return (
    record.deadLetter !== undefined &&
    origin.messageId === record.deadLetter.messageId &&
    // The dead-lettered message itself comes again where its lock ended before the settlement.
    origin.sequenceNumber !== record.sequenceNumber &&
    origin.enqueuedUtc > record.sinceUtc &&
    origin.enqueuedUtc > (origin.notBeforeUtc ?? 0) + CLEARLY_LATER_IN_MS
  );
}
