import { TableClient } from '@azure/data-tables';
import { DefaultAzureCredential, ManagedIdentityCredential } from '@azure/identity';

/** How to reach the storage account, as Azure Functions settings say it; or what is wrong with them. */
export type TableConnection =
  | { readonly kind: 'connectionString'; readonly connectionString: string }
  | {
      readonly kind: 'identity';
      readonly tableServiceUri: string;
      readonly clientId: string | undefined;
      /** Only the managed identity; otherwise also what a developer's machine offers. */
      readonly isManaged: boolean;
    }
  | { readonly kind: 'problem'; readonly problem: string };

type Settings = Readonly<Record<string, string | undefined>>;

/**
 * Reads the connection `name` as the host reads its own: a connection string in `<name>`, or an identity with
 * `<name>__tableServiceUri` or `<name>__accountName`, and optionally `__clientId` and `__credential` (`managedidentity`).
 */
export function readTableConnection(settings: Settings, name: string): TableConnection {
  const connectionString = settings[name];
  if (connectionString) return fromConnectionString(connectionString, name);

  const account = settings[`${name}__accountName`];
  const tableServiceUri =
    settings[`${name}__tableServiceUri`] || (account && `https://${account}.table.core.windows.net`);
  if (!tableServiceUri) {
    return problem(
      `${name}: expected a connection string, or ${name}__tableServiceUri or ${name}__accountName for an identity; got none`,
    );
  }
  if (!URL.canParse(tableServiceUri) || new URL(tableServiceUri).protocol !== 'https:') {
    return problem(`${name}__tableServiceUri: expected an https address, got "${tableServiceUri}"`);
  }
  const credential = settings[`${name}__credential`]?.toLowerCase();
  if (credential && credential !== 'managedidentity') {
    return problem(`${name}__credential: expected "managedidentity" or nothing, got "${credential}"`);
  }
  const clientId = settings[`${name}__clientId`] || undefined;
  return { kind: 'identity', tableServiceUri, clientId, isManaged: credential !== undefined };
}

function fromConnectionString(connectionString: string, name: string): TableConnection {
  try {
    TableClient.fromConnectionString(connectionString, 'any');
    return { kind: 'connectionString', connectionString };
  } catch (error) {
    // The SDK's own words hold no secret; the setting does.
    return problem(`${name}: expected a connection string of a storage account: ${(error as Error).message}`);
  }
}

const problem = (text: string): TableConnection => ({ kind: 'problem', problem: text });

/** What a table may be called: 3 to 63 letters and digits, a letter first. */
export const isTableName = (name: string): boolean => /^[A-Za-z][A-Za-z0-9]{2,62}$/.test(name);

/** A client that never repeats by itself: the store has its own one repeat, and the pipeline goes on from there. */
export function connectTable(
  connection: Exclude<TableConnection, { kind: 'problem' }>,
  tableName: string,
): TableClient {
  const retryOptions = { maxRetries: 0 };
  if (connection.kind === 'connectionString') {
    const { connectionString } = connection;
    // Plain HTTP only where the string itself asks for it, as an emulator's does.
    const allowInsecureConnection = /http:|EndpointsProtocol=http;/i.test(connectionString);
    return TableClient.fromConnectionString(connectionString, tableName, { retryOptions, allowInsecureConnection });
  }
  const { tableServiceUri, clientId, isManaged } = connection;
  const credential = isManaged
    ? new ManagedIdentityCredential(clientId ? { clientId } : {})
    : new DefaultAzureCredential(clientId ? { managedIdentityClientId: clientId } : {});
  return new TableClient(tableServiceUri, tableName, credential, { retryOptions });
}
