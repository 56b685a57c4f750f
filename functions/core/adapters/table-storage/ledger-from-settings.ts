import type { Clock, Ledger } from '../../pipeline/ports.ts';
import { checkLedger } from './check-ledger.ts';
import { connectTable, isTableName, readTableConnection } from './connect-table.ts';
import { type Sweep, type SweepOptions, sweepLedger } from './sweep.ts';
import { tableLedger } from './table-ledger.ts';
import { tableStore } from './table-store.ts';

/** Name of the ledger's connection, and of the setting that names its table. */
const CONNECTION = 'LedgerStorage';
const TABLE_SETTING = 'LEDGER_TABLE';
const DEFAULT_TABLE = 'ledger';

export interface CheckedLedger extends Ledger {
  /** To be called at start, before any message. @throws LedgerError with one clear line where the ledger does not work */
  check(): Promise<void>;
  /** Deletes what need not be remembered any longer, and reports what is stranded. */
  sweep(options: SweepOptions): Promise<Sweep>;
}

/** The ledger that the settings name. Nothing is opened yet. Problems are pushed, a line each. */
export function ledgerFromSettings(
  environment: Readonly<Record<string, string | undefined>>,
  clock: Pick<Clock, 'monotonicInMs' | 'sleep'>,
  problems: string[],
): CheckedLedger | undefined {
  const connection = readTableConnection(environment, CONNECTION);
  if (connection.kind === 'problem') problems.push(connection.problem);
  const tableName = environment[TABLE_SETTING] || DEFAULT_TABLE;
  if (!isTableName(tableName)) {
    problems.push(`${TABLE_SETTING}: expected 3 to 63 letters and digits, a letter first; got "${tableName}"`);
  }
  if (connection.kind === 'problem' || !isTableName(tableName)) return undefined;
  const store = tableStore({ table: connectTable(connection, tableName), clock });
  return { ...tableLedger(store), check: () => checkLedger(store), sweep: (options) => sweepLedger(store, options) };
}
