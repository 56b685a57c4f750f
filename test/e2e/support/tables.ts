import { randomBytes } from 'node:crypto';
import { TableServiceClient } from '@azure/data-tables';
import { startAzurite } from '../../../local/azurite.ts';
import type { Target } from './target.ts';

/** A Table Storage for tests: an Azurite of their own, or one that is there already. */
export interface Tables {
  readonly connectionString: string;
  /** What the app is told of it. */
  readonly settings: Readonly<Record<string, string>>;
  /** Stops what was started, and removes what was made. */
  stop(): Promise<void>;
}

/** A Table Storage with an empty ledger. */
export async function someTables(target: Target | undefined): Promise<Tables> {
  if (target) return tablesAt(target.storage);
  const { connectionString, stop } = await startAzurite();
  return { connectionString, settings: storageSettings(connectionString), stop };
}

/** A ledger for this run: in one that is kept, the events of the last run would be duplicates. */
function tablesAt(connectionString: string): Tables {
  const table = `e2e${randomBytes(8).toString('hex')}`;
  const service = TableServiceClient.fromConnectionString(connectionString, { allowInsecureConnection: true });
  return {
    connectionString,
    settings: { ...storageSettings(connectionString), LEDGER_TABLE: table },
    stop: () => service.deleteTable(table),
  };
}

const storageSettings = (connectionString: string) => ({
  AzureWebJobsStorage: connectionString,
  LedgerStorage: connectionString,
});
