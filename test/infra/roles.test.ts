import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesOf } from '../../infra/checks/sources.ts';
import { ofType, project, readText, type Snapshot, snapshots, theOnly } from './support/built.ts';

const ASSIGNMENTS = 'Microsoft.Authorization/roleAssignments';
const SERVICE_BUS_DATA_OWNER = '090c5cfd-751d-490a-894a-3ce6f1109419';

/** Each role that the app has, the end of the scope that it has it on, and the call that needs it. */
const ROLES = [
  {
    name: 'Service Bus Data Receiver',
    id: '4f6d3b9b-027b-4f4c-9142-0e5a2a2247e0',
    scope: /\/queues\/[\w-]+$/,
    neededBy: { file: 'functions/core/consumer.ts', call: /app\.serviceBusQueue/ },
  },
  {
    name: 'Service Bus Data Sender',
    id: '69a216fc-b8fb-44d8-bc22-1f3c2cd27a39',
    scope: /\/queues\/[\w-]+$/,
    neededBy: { file: 'functions/core/adapters/service-bus/copy-sender.ts', call: /createSender|sendMessages/ },
  },
  {
    name: 'Storage Table Data Contributor',
    id: '0a9a7e1f-b9d0-4cc4-a60d-0319b160aaa3',
    scope: /\/tables\/ledger$/,
    neededBy: { file: 'functions/core/adapters/table-storage/connect-table.ts', call: /new TableClient/ },
  },
  {
    name: 'Storage Blob Data Owner',
    id: 'b7e6dc6d-f1e8-4753-8033-0f276bb0955b',
    scope: /\/storageAccounts\/\w+$/,
    // The host's own: its package, its locks, its keys.
    neededBy: { file: 'infra/modules/function-app.bicep', call: /AzureWebJobsStorage__accountName/ },
  },
  {
    name: 'Monitoring Metrics Publisher',
    id: '3913510d-42f4-4e42-8a64-420c390055eb',
    scope: /\/components\/appi-[\w-]+$/,
    neededBy: { file: 'infra/modules/function-app.bicep', call: /Authorization=AAD/ },
  },
  {
    name: 'Service Bus Count Reader',
    id: 'custom',
    scope: /\/namespaces\/sb-[\w-]+$/,
    // The platform's scaler reads the counts of the queue that the trigger names.
    neededBy: { file: 'functions/core/consumer.ts', call: /app\.serviceBusQueue/ },
  },
];

/** Role and scope of every assignment. */
const grantsOf = (snapshot: Snapshot) => {
  const custom = ofType(snapshot, 'Microsoft.Authorization/roleDefinitions').map(({ name }) => name);
  return ofType(snapshot, ASSIGNMENTS).map(({ name, properties }) => {
    const id = properties.roleDefinitionId.split('/').at(-1);
    return {
      role: custom.includes(id) ? 'custom' : id,
      scope: /^\[guid\('([^']+)'/.exec(name)?.[1] ?? '',
      principalType: properties.principalType,
    };
  });
};

describe.each(snapshots)('$stage', (snapshot: Snapshot) => {
  it('gives each role on the smallest scope that does, and says what the principal is', () => {
    const queues = ofType(snapshot, 'Microsoft.ServiceBus/namespaces/queues').length;
    const grants = grantsOf(snapshot);
    expect(grants).toHaveLength(2 * queues + 4);
    for (const { role, scope, principalType } of grants) {
      const known = ROLES.find(({ id }) => id === role);
      expect(known, role).toBeDefined();
      expect(scope).toMatch(known?.scope ?? /never/);
      expect(principalType).toBe('ServicePrincipal');
    }
    expect(new Set(grants.map(({ role }) => role))).toEqual(new Set(ROLES.map(({ id }) => id)));
  });

  it('lets the custom role read counts and nothing else', () => {
    const { properties } = theOnly(snapshot, 'Microsoft.Authorization/roleDefinitions');
    expect(properties.permissions).toEqual([
      { actions: ['Microsoft.ServiceBus/namespaces/*/read'], notActions: [], dataActions: [], notDataActions: [] },
    ]);
  });

  it('makes nobody owner of the data in Service Bus', () => {
    expect(snapshot.text).not.toContain(SERVICE_BUS_DATA_OWNER);
  });
});

it.each(ROLES)('$name is needed by a call', ({ neededBy: { file, call } }) => {
  expect(readFileSync(join(project, file), 'utf8')).toMatch(call);
});

it('no source names the role of a data owner of Service Bus', () => {
  for (const file of filesOf(project, ['infra/**/*.bicep']))
    expect(readText(file)).not.toContain(SERVICE_BUS_DATA_OWNER);
});
