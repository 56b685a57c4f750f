import { TableClient } from '@azure/data-tables';
import { systemClock } from '../../functions/core/adapters/system-clock.ts';
import { checkLedger } from '../../functions/core/adapters/table-storage/check-ledger.ts';
import { connectTable } from '../../functions/core/adapters/table-storage/connect-table.ts';
import { tableLedger } from '../../functions/core/adapters/table-storage/table-ledger.ts';
import { tableStore } from '../../functions/core/adapters/table-storage/table-store.ts';
import { startAzurite } from '../../local/azurite.ts';
import { inMemoryLedger } from '../fakes/in-memory-ledger.ts';
import { ledgerContract } from './ledger.contract.ts';

const onAccount = (connectionString: string, tableName: string, close: () => Promise<unknown>) => ({
  async open() {
    const table = connectTable({ kind: 'connectionString', connectionString }, tableName);
    const store = tableStore({ table, clock: systemClock });
    await checkLedger(store);
    return tableLedger(store);
  },
  close: async () => void (await close()),
});

ledgerContract('in memory', async () => {
  const ledger = inMemoryLedger(systemClock);
  return { open: async () => ledger, close: async () => undefined };
});

ledgerContract('on Azurite', async () => {
  const azurite = await startAzurite();
  return onAccount(azurite.connectionString, 'ledger', azurite.stop);
});

/** A storage account to run the contract on as well; its table is deleted at the end. */
const account = process.env['LEDGER_CONNECTION_STRING'];
if (account) {
  ledgerContract('on a storage account', async () => {
    const tableName = `ledgertest${Date.now()}`;
    return onAccount(account, tableName, () => TableClient.fromConnectionString(account, tableName).deleteTable());
  });
}
