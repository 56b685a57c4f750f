import { describe } from 'vitest';
import { type LedgerStore, ledgerBench } from './ledger-bench.ts';
import { ledgerClaims } from './ledger-claims.contract.ts';
import { ledgerOutcomes } from './ledger-outcomes.contract.ts';

/** What every ledger does, whatever it keeps its records in. */
export function ledgerContract(name: string, start: () => Promise<LedgerStore>): void {
  describe(`a ledger ${name}`, () => {
    const bench = ledgerBench(start);
    ledgerClaims(bench);
    ledgerOutcomes(bench);
  });
}
