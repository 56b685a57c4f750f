import { randomUUID } from 'node:crypto';
import { LedgerError } from '../../pipeline/ports.ts';
import { serviceCodeOf } from './store-error.ts';
import type { TableStore } from './table-store.ts';

/**
 * Makes sure, before any message is touched, that the ledger can be written, read, replaced under a version and deleted;
 * creates the table where it is missing. Leaves nothing behind, and the store's clock known.
 *
 * @throws LedgerError with one clear line
 */
export async function checkLedger(store: TableStore): Promise<void> {
  try {
    await probe(store);
  } catch (error) {
    const { code, message, cause } = error as LedgerError;
    throw new LedgerError(code, `ledger table "${store.table.tableName}": ${message}${adviceFor(error)}`, { cause });
  }
}

async function probe(store: TableStore): Promise<void> {
  // A partition of its own, which no record and no sweep touches; a key of its own, as other instances start as well.
  const keys = { partitionKey: 'probe', rowKey: randomUUID() };
  const etag = await insertOrCreateTable(store, keys);
  const found = await store.get(keys);
  if (!etag || found?.columns['kind'] !== 'probe') {
    throw new LedgerError('unavailable', 'the ledger does not give back what was written');
  }
  const replaced = await store.replace(keys, { kind: 'probe', round: 2 }, etag);
  const overwritten = await store.replace(keys, { kind: 'probe', round: 3 }, etag);
  await store.remove(keys, '*');
  if (!replaced || overwritten) {
    throw new LedgerError('unavailable', 'the ledger does not fence writes by their ETag');
  }
  await store.serverTime();
}

async function insertOrCreateTable(store: TableStore, keys: { partitionKey: string; rowKey: string }) {
  const insert = () => store.insert(keys, { kind: 'probe', round: 1 });
  return insert().catch(async (error: LedgerError) => {
    if (serviceCodeOf(error.cause) !== 'TableNotFound') throw error;
    await store.createTable();
    return insert();
  });
}

function adviceFor(error: unknown): string {
  const { code } = error as LedgerError;
  if (code !== 'forbidden') return '';
  return '. The identity needs the role Storage Table Data Contributor on the table, or a valid connection string';
}
