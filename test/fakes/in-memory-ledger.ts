import {
  claimOf,
  claimStep,
  recordStep,
  type StoredRecord,
} from '../../functions/core/adapters/table-storage/transitions.ts';
import type { Clock, EventKey, Ledger } from '../../functions/core/pipeline/ports.ts';
import type { LedgerRecord } from '../../functions/core/rules/ledger.ts';

interface Row {
  readonly stored: StoredRecord;
  readonly etag: string;
  /** Version that this one replaced; empty for the first. */
  readonly follows: string;
}

export interface InMemoryLedger extends Ledger {
  /** The event's record as it stands, without claiming it. */
  recordOf(key: EventKey): LedgerRecord | undefined;
}

/** The ledger in memory: keeps state, fences writes by version, and passes the port's contract. Its clock is the store's. */
export function inMemoryLedger(clock: Pick<Clock, 'nowUtc'>): InMemoryLedger {
  const rows = new Map<string, Row>();
  const nameOf = ({ consumer, eventId }: EventKey) => JSON.stringify([consumer, eventId]);
  let writes = 0;
  const write = (key: EventKey, stored: StoredRecord, follows: string): string => {
    const etag = `v${++writes}`;
    rows.set(nameOf(key), { stored, etag, follows });
    return etag;
  };

  return {
    recordOf: (key) => rows.get(nameOf(key))?.stored.record,

    serverNowUtc: () => clock.nowUtc(),

    async claim(key, claimant, leaseInMs) {
      const row = rows.get(nameOf(key));
      const nowUtc = clock.nowUtc();
      const step = claimStep(row?.stored, claimant, leaseInMs, { earliestUtc: nowUtc, latestUtc: nowUtc });
      switch (step.kind) {
        case 'refuse':
          return step.claim;
        case 'repeatDeadLetter':
          if (!row) throw new Error('a dead letter without a record');
          return { ...step, hold: { key, record: row.stored.record, etag: row.etag } };
        case 'write': {
          const etag = write(key, step.next, row?.etag ?? '');
          return claimOf({ key, record: step.next.record, etag }, step.next);
        }
      }
    },

    async record(hold, entry) {
      const row = rows.get(nameOf(hold.key));
      if (row?.etag === hold.etag) {
        const next = recordStep(hold.record, entry, clock.nowUtc());
        return { kind: 'recorded', hold: { ...hold, record: next.record, etag: write(hold.key, next, hold.etag) } };
      }
      if (row?.follows !== hold.etag || row.stored.record.kind !== entry.kind) return { kind: 'leaseLost' };
      return { kind: 'recorded', hold: { ...hold, record: row.stored.record, etag: row.etag } };
    },
  };
}
