import type { Entry, Ledger } from '../../functions/core/pipeline/ports.ts';
import { type Faults, underFaults } from './faults.ts';
import type { Journal } from './journal.ts';

/** A ledger seen through a journal and two scripts of faults. */
export function faultyLedger(ledger: Ledger, journal: Journal, claimFaults: Faults, recordFaults: Faults): Ledger {
  const claim = underFaults(journal, claimFaults);
  const record = underFaults(journal, recordFaults);
  return {
    claim: (...args) => claim('claim', () => ledger.claim(...args)),
    record: (hold, entry) => record(`record ${nameOf(entry)}`, () => ledger.record(hold, entry)),
  };
}

function nameOf(entry: Entry): string {
  if ('attempt' in entry) return `${entry.kind} ${entry.attempt}`;
  return 'reason' in entry ? `${entry.kind} ${entry.reason}` : entry.kind;
}
