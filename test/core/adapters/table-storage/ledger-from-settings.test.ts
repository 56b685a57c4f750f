import { expect, test } from 'vitest';
import { systemClock } from '../../../../functions/core/adapters/system-clock.ts';
import { readTableConnection } from '../../../../functions/core/adapters/table-storage/connect-table.ts';
import { ledgerFromSettings } from '../../../../functions/core/adapters/table-storage/ledger-from-settings.ts';
import { aClaimant, startTableBench } from './table-bench.ts';

const identity = { kind: 'identity', clientId: undefined, isManaged: false };

test.each([
  [
    'a connection string',
    { Store: 'UseDevelopmentStorage=true' },
    { kind: 'connectionString', connectionString: 'UseDevelopmentStorage=true' },
  ],
  [
    'an account of an identity',
    { Store__accountName: 'acme' },
    { ...identity, tableServiceUri: 'https://acme.table.core.windows.net' },
  ],
  [
    'the address of a table service in another cloud',
    { Store__tableServiceUri: 'https://acme.table.core.chinacloudapi.cn' },
    { ...identity, tableServiceUri: 'https://acme.table.core.chinacloudapi.cn' },
  ],
  [
    'a user-assigned identity',
    { Store__accountName: 'acme', Store__credential: 'managedIdentity', Store__clientId: 'c-1' },
    { kind: 'identity', tableServiceUri: 'https://acme.table.core.windows.net', clientId: 'c-1', isManaged: true },
  ],
  [
    'nothing',
    { Store: '' },
    {
      kind: 'problem',
      problem:
        'Store: expected a connection string, or Store__tableServiceUri or Store__accountName for an identity; got none',
    },
  ],
  [
    'a text that is no connection string, without repeating it',
    { Store: 'AccountKey=c2VjcmV0' },
    { kind: 'problem', problem: expect.not.stringContaining('c2VjcmV0') },
  ],
  [
    'an address that is not https',
    { Store__tableServiceUri: 'http://acme.example' },
    { kind: 'problem', problem: 'Store__tableServiceUri: expected an https address, got "http://acme.example"' },
  ],
  [
    'a credential of another kind',
    { Store__accountName: 'acme', Store__credential: 'password' },
    { kind: 'problem', problem: 'Store__credential: expected "managedidentity" or nothing, got "password"' },
  ],
])('reads %s', (_, settings, connection) => {
  expect(readTableConnection(settings, 'Store')).toEqual(connection);
});

test('works with LedgerStorage and LEDGER_TABLE: checked, claimed, swept', async () => {
  const bench = await startTableBench();
  try {
    const problems: string[] = [];
    const settings = { LedgerStorage: bench.connectionString, LEDGER_TABLE: 'orders' };
    const ledger = ledgerFromSettings(settings, systemClock, problems) ?? expect.fail(problems.join());
    await ledger.check();
    await ledger.claim({ consumer: 'orders', eventId: 'order' }, aClaimant(), -7_200_000, false);

    expect(await ledger.sweep({ retentionInMs: 86_400_000 })).toMatchObject({
      deleted: 0,
      stranded: [{ kind: 'inProgress', consumer: 'orders', eventId: 'order' }],
    });
    const entities = [];
    for await (const entity of bench.store('orders').table.listEntities()) entities.push(entity);
    expect(entities).toMatchObject([{ eventId: 'order', kind: 'inProgress' }]);
  } finally {
    await bench.stop();
  }
});

test('tells every problem at once', () => {
  const problems: string[] = [];

  expect(ledgerFromSettings({ LEDGER_TABLE: 'my-ledger' }, systemClock, problems)).toBeUndefined();

  expect(problems).toEqual([
    'LedgerStorage: expected a connection string, or LedgerStorage__tableServiceUri or LedgerStorage__accountName for an identity; got none',
    'LEDGER_TABLE: expected 3 to 63 letters and digits, a letter first; got "my-ledger"',
  ]);
});
