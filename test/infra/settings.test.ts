import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { serviceBusClient } from '../../functions/core/adapters/service-bus/service-bus-client.ts';
import { systemClock } from '../../functions/core/adapters/system-clock.ts';
import { readTableConnection } from '../../functions/core/adapters/table-storage/connect-table.ts';
import { ledgerFromSettings } from '../../functions/core/adapters/table-storage/ledger-from-settings.ts';
import { DEFAULT_POLICY } from '../../functions/core/rules/policy.ts';
import { readRetentionInMs, unknownPolicySettings } from '../../functions/core/settings.ts';
import { paymentsSettings } from '../../functions/events/order-placed/payments.ts';
import { filesOf } from '../../infra/checks/sources.ts';
import { project, type Snapshot, snapshots, theOnly } from './support/built.ts';

const CLIENT_ID = '11111111-1111-1111-1111-111111111111';

/** Settings that nothing in functions/ reads, each with whoever does. */
const READ_BY_THE_PLATFORM: Readonly<Record<string, string>> = {
  APPLICATIONINSIGHTS_AUTHENTICATION_STRING: 'the host exports its telemetry by identity',
  APPLICATIONINSIGHTS_CONNECTION_STRING: 'the host exports its telemetry there',
  AzureWebJobsStorage__accountName: 'the host keeps its locks and keys there',
  AzureWebJobsStorage__clientId: 'the host, by identity',
  AzureWebJobsStorage__credential: 'the host, by identity',
  ServiceBusConnection__credential: 'the trigger wants it to take the client id',
};

/** Settings that code reads and no deployment needs, each with its reason. */
const NOT_IN_AZURE: Readonly<Record<string, string>> = {
  LedgerStorage__accountName: 'the other way to say LedgerStorage__tableServiceUri',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'for another place than Application Insights',
};

/** Texts in the code that look like a setting and are none. */
const NO_SETTINGS = ['ERR_BUFFER_TOO_LARGE'];

/** A deployment's settings as the app would see them: what only Azure knows is filled in. */
function settingsOf(snapshot: Snapshot): Record<string, string> {
  const { properties } = theOnly(snapshot, 'Microsoft.Web/sites/config');
  const account = theOnly(snapshot, 'Microsoft.Storage/storageAccounts').name;
  const namespace = theOnly(snapshot, 'Microsoft.ServiceBus/namespaces').name;
  const known = (expression: string): string => {
    if (!expression.startsWith('[')) return expression;
    if (/^\[reference\(.+\)\.clientId\]$/.test(expression)) return CLIENT_ID;
    if (/\.primaryEndpoints\.table\]$/.test(expression)) return `https://${account}.table.core.windows.net/`;
    if (/serviceBusEndpoint/.test(expression)) return `${namespace}.servicebus.windows.net`;
    return expression;
  };
  return Object.fromEntries(
    Object.entries(properties as Record<string, string>).map(([name, text]) => [name, known(text)]),
  );
}

/** The rules read no settings: what is in capitals there are codes of errors. */
const sources = filesOf(project, ['functions/**/*.ts'])
  .filter((file) => !file.startsWith('functions/core/rules/'))
  .map((file) => readFileSync(join(project, file), 'utf8'));

/** What the code reads, by the ways in which it reads: a connection's parts, a named setting, an event's own. */
function settingsReadByCode(): string[] {
  const parts = (from: string, connection: string) => {
    const text = readFileSync(join(project, 'functions/core/adapters', from), 'utf8');
    return [...text.matchAll(/\$\{name\}__(\w+)/g)].map(([, part]) => `${connection}__${part}`);
  };
  const all = sources.join('\n');
  return [
    ...parts('service-bus/service-bus-client.ts', 'ServiceBusConnection'),
    ...parts('table-storage/connect-table.ts', 'LedgerStorage'),
    // Whatever looks like one: a setting that is read in a new way is seen as well.
    ...[...all.matchAll(/'([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)'/g)].map(([, name]) => name as string),
    ...Object.keys(paymentsSettings.shape),
  ].filter((name, index, names) => names.indexOf(name) === index && !NO_SETTINGS.includes(name));
}

describe.each(snapshots)('$stage', (snapshot: Snapshot) => {
  const settings = settingsOf(snapshot);

  it('lets the app connect to its ledger and its namespace by identity', () => {
    const problems: string[] = [];
    expect(readTableConnection(settings, 'LedgerStorage')).toEqual({
      kind: 'identity',
      tableServiceUri: settings['LedgerStorage__tableServiceUri'],
      clientId: CLIENT_ID,
      isManaged: true,
    });
    expect(ledgerFromSettings(settings, systemClock, problems)).toBeDefined();
    expect(serviceBusClient('ServiceBusConnection', settings, problems)?.fullyQualifiedNamespace).toBe(
      settings['ServiceBusConnection__fullyQualifiedNamespace'],
    );
    expect(problems).toEqual([]);
  });

  it('names the table that the template makes', () => {
    const table = theOnly(snapshot, 'Microsoft.Storage/storageAccounts/tableServices/tables').name.split('/').at(-1);
    expect(settings['LEDGER_TABLE']).toBe(table);
  });

  it('gives the handlers what they want, and no setting of a policy that no event has', () => {
    expect(paymentsSettings.safeParse(settings).success).toBe(true);
    expect(unknownPolicySettings(['order-placed'], settings)).toEqual([]);
    const problems: string[] = [];
    readRetentionInMs(settings, DEFAULT_POLICY.windowInMs, problems);
    expect(problems).toEqual([]);
  });

  it('has each setting that the code reads', () => {
    const missing = settingsReadByCode().filter((name) => !(name in settings) && !(name in NOT_IN_AZURE));
    expect(missing).toEqual([]);
  });

  it('has no setting that nobody reads', () => {
    const read = new Set([...settingsReadByCode(), ...Object.keys(READ_BY_THE_PLATFORM)]);
    expect(Object.keys(settings).filter((name) => !read.has(name))).toEqual([]);
  });

  it('runs the app on Flex Consumption and Node 24, within its bounds, and drains instances before it replaces them', () => {
    expect(theOnly(snapshot, 'Microsoft.Web/serverfarms').sku).toEqual({ name: 'FC1', tier: 'FlexConsumption' });
    const { functionAppConfig } = theOnly(snapshot, 'Microsoft.Web/sites').properties;
    expect(functionAppConfig.runtime).toEqual({ name: 'node', version: '24' });
    expect(functionAppConfig.siteUpdateStrategy).toEqual({ type: 'RollingUpdate' });
    expect(functionAppConfig.deployment.storage.authentication.type).toBe('UserAssignedIdentity');
    // Between these bounds in every region; some take less.
    expect(functionAppConfig.scaleAndConcurrency.maximumInstanceCount).toBeGreaterThanOrEqual(40);
    expect(functionAppConfig.scaleAndConcurrency.maximumInstanceCount).toBeLessThanOrEqual(1_000);
    expect([512, 2_048, 4_096]).toContain(functionAppConfig.scaleAndConcurrency.instanceMemoryMB);
    // Refused or ignored by the plan: runtime, build and scale stand in functionAppConfig.
    const outdated = /^(FUNCTIONS_(EXTENSION|WORKER|MAX)|WEBSITE_|SCM_|ENABLE_ORYX|XDT_)/;
    expect(Object.keys(settings).filter((name) => outdated.test(name))).toEqual([]);
  });
});

it('finds the settings that the code reads, each by its kind', () => {
  expect(settingsReadByCode()).toEqual(
    expect.arrayContaining([
      'ServiceBusConnection__fullyQualifiedNamespace',
      'ServiceBusConnection__clientId',
      'LedgerStorage__tableServiceUri',
      'LedgerStorage__credential',
      'LEDGER_TABLE',
      'LEDGER_RETENTION_IN_DAYS',
      'PAYMENTS_URL',
    ]),
  );
});
