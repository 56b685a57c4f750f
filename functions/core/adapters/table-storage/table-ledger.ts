import { type Ledger, LedgerError } from '../../pipeline/ports.ts';
import { fromColumns, toColumns } from './entity.ts';
import { keysOf } from './keys.ts';
import type { TableStore } from './table-store.ts';
import { claimOf, claimStep, recordStep } from './transitions.ts';

/** Claims of one event that overtake each other settle within two or three rounds; more is a fault somewhere. */
const ROUNDS = 8;

/**
 * The ledger in Table Storage: one entity an event, of which every write but the first is fenced by the version that
 * was read. A claim and an outcome are one operation each; a duplicate is found by one read where it was expected, by
 * a refused insert and a read where not.
 */
export function tableLedger(store: TableStore): Ledger {
  return {
    serverNowUtc() {
      const known = store.knownTime();
      return known && Math.round((known.earliestUtc + known.latestUtc) / 2);
    },

    async claim(key, claimant, leaseInMs, mayExist) {
      const keys = keysOf(key);
      let found = mayExist ? await store.get(keys) : undefined;
      for (let round = 0; round < ROUNDS; round++) {
        const stored = found && fromColumns(found.columns);
        const step = claimStep(stored, claimant, leaseInMs, await store.serverTime());
        if (step.kind === 'refuse') return step.claim;
        if (step.kind === 'repeatDeadLetter' && found && stored) {
          return { ...step, hold: { key, record: stored.record, etag: found.etag } };
        }
        if (step.kind === 'write') {
          const columns = toColumns(key, step.next);
          const etag = found ? await store.replace(keys, columns, found.etag) : await store.insert(keys, columns);
          if (etag) return claimOf({ key, record: step.next.record, etag }, step.next);
        }
        // Someone has written since, or an earlier try of ours whose reply was lost: judge what is there now.
        found = await store.get(keys);
      }
      throw new LedgerError('unavailable', `the ledger did not claim: overtaken ${ROUNDS} times in a row`);
    },

    async record(hold, entry) {
      const keys = keysOf(hold.key);
      const { latestUtc } = await store.serverTime();
      const next = recordStep(hold.record, entry, latestUtc);
      const etag = await store.replace(keys, toColumns(hold.key, next, hold.etag), hold.etag);
      if (etag) return { kind: 'recorded', hold: { ...hold, record: next.record, etag } };

      // Only a write of this entry can have followed our hold into this state: ours, whose reply was lost, or where two
      // deliveries repeat one dead letter the other's confirmation, which is the same.
      const found = await store.get(keys);
      if (found?.columns['follows'] !== hold.etag || found.columns['kind'] !== entry.kind) return { kind: 'leaseLost' };
      return { kind: 'recorded', hold: { ...hold, record: fromColumns(found.columns).record, etag: found.etag } };
    },
  };
}
