import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ofType, readText, type Snapshot, snapshots, theOnly } from './support/built.ts';

// What no compiler refuses, and Azure or azd would only when it is deployed.

const { services } = parse(readText('azure.yaml'));
const endOf = (id: string): string => id.split('/').at(-1) ?? '';

describe.each(snapshots)('$stage', (snapshot: Snapshot) => {
  const app = theOnly(snapshot, 'Microsoft.Web/sites');
  const settings: Record<string, string> = theOnly(snapshot, 'Microsoft.Web/sites/config').properties;
  const identity = theOnly(snapshot, 'Microsoft.ManagedIdentity/userAssignedIdentities');

  it('bears the tags that azd finds group and app by', () => {
    const environment = { 'azd-env-name': expect.stringMatching(/^[a-z]+$/) };
    expect(theOnly(snapshot, 'Microsoft.Resources/resourceGroups')['tags']).toEqual(environment);
    expect(app['tags']).toEqual({ ...environment, 'azd-service-name': Object.keys(services)[0] });
  });

  it('tags whatever can bear a tag', () => {
    const untagged = snapshot.resources.filter(({ location, tags }) => location !== undefined && tags === undefined);
    expect(untagged.map(({ type }) => type)).toEqual([]);
  });

  it('takes its package from the container that is made, by the identity that it has', () => {
    const container = theOnly(snapshot, 'Microsoft.Storage/storageAccounts/blobServices/containers').name.split('/');
    const { type, value, authentication } = app.properties.functionAppConfig.deployment.storage;
    expect(type).toBe('blobContainer');
    expect(value).toContain(`/storageAccounts/${container[0]}'`);
    expect(value).toMatch(new RegExp(`primaryEndpoints\\.blob, '${container.at(-1)}'\\)\\]$`));
    expect(authentication).toEqual({
      type: 'UserAssignedIdentity',
      userAssignedIdentityResourceId: identity.id,
    });
    expect(app['identity']).toEqual({ type: 'UserAssigned', userAssignedIdentities: { [identity.id]: {} } });
  });

  it('makes every connection by that identity, telemetry included', () => {
    const ending = (end: string) => Object.entries(settings).filter(([name]) => name.endsWith(end));
    const clientId = `reference('${identity.id}', '2024-11-30').clientId`;
    const connections = ['AzureWebJobsStorage', 'LedgerStorage', 'ServiceBusConnection'];
    expect(ending('__credential')).toEqual(connections.map((name) => [`${name}__credential`, 'managedidentity']));
    expect(ending('__clientId')).toEqual(connections.map((name) => [`${name}__clientId`, `[${clientId}]`]));
    expect(settings['APPLICATIONINSIGHTS_AUTHENTICATION_STRING']).toBe(
      `[format('ClientId={0};Authorization=AAD', ${clientId})]`,
    );
  });

  it('sends what the namespace logs to the workspace', () => {
    const { properties } = theOnly(snapshot, 'Microsoft.Insights/diagnosticSettings');
    expect(endOf(properties.workspaceId)).toBe(theOnly(snapshot, 'Microsoft.OperationalInsights/workspaces').name);
    expect(properties.logs).toEqual([{ categoryGroup: 'allLogs', enabled: true }]);
  });
});

describe('prod-isolated', () => {
  const snapshot = snapshots.find(({ stage }) => stage === 'prod-isolated') as Snapshot;

  it('runs the app in a subnet of its own, delegated as Flex Consumption wants it, and of more than 40 addresses', () => {
    const { id, properties } = theOnly(snapshot, 'Microsoft.Network/virtualNetworks');
    const subnet = properties.subnets.find(({ name }: { name: string }) => name === 'app').properties;
    expect(theOnly(snapshot, 'Microsoft.Web/sites').properties.virtualNetworkSubnetId).toBe(`${id}/subnets/app`);
    expect(subnet.delegations.map((each: { properties: unknown }) => each.properties)).toEqual([
      { serviceName: 'Microsoft.App/environments' },
    ]);
    expect(Number(subnet.addressPrefix.split('/')[1])).toBeLessThanOrEqual(26);
  });

  it('reaches blobs, tables and the namespace by private endpoints, and finds them by name', () => {
    const endpoints = ofType(snapshot, 'Microsoft.Network/privateEndpoints').map(({ properties }) => {
      const [connection] = properties.privateLinkServiceConnections;
      return [connection.properties.groupIds, endOf(properties.subnet.id)];
    });
    expect(endpoints).toEqual(['blob', 'table', 'namespace'].map((group) => [[group], 'endpoints']));
    const zones = ofType(snapshot, 'Microsoft.Network/privateDnsZones').map(({ name }) => name);
    expect(zones).toEqual([
      "[format('privatelink.{0}.{1}', 'blob', environment().suffixes.storage)]",
      "[format('privatelink.{0}.{1}', 'table', environment().suffixes.storage)]",
      'privatelink.servicebus.windows.net',
    ]);
    const network = theOnly(snapshot, 'Microsoft.Network/virtualNetworks').id;
    for (const type of ['privateDnsZones/virtualNetworkLinks', 'privateEndpoints/privateDnsZoneGroups']) {
      expect(ofType(snapshot, `Microsoft.Network/${type}`), type).toHaveLength(3);
    }
    for (const { properties } of ofType(snapshot, 'Microsoft.Network/privateDnsZones/virtualNetworkLinks')) {
      expect(properties.virtualNetwork.id).toBe(network);
    }
  });

  it('lets nobody past them', () => {
    expect(theOnly(snapshot, 'Microsoft.Storage/storageAccounts').properties.networkAcls).toEqual({
      bypass: 'None',
      defaultAction: 'Deny',
    });
    expect(theOnly(snapshot, 'Microsoft.ServiceBus/namespaces').sku).toEqual({
      name: 'Premium',
      tier: 'Premium',
      capacity: 1,
    });
  });
});

it('a budget is where one was asked for', () => {
  const stages = snapshots.filter((snapshot) => ofType(snapshot, 'Microsoft.Consumption/budgets').length > 0);
  expect(stages.map(({ stage }) => stage)).toEqual(['prod']);
});

it('the app comes last: what it may do, and how it gets there, is there when it starts', () => {
  const { resources } = JSON.parse(readText('infra/main.json'));
  expect(resources.functionApp.dependsOn).toEqual(expect.arrayContaining(['roles', 'privateEndpoints']));
  expect(resources.roles.dependsOn).toEqual(
    expect.arrayContaining(['identity', 'serviceBus', 'storage', 'monitoring']),
  );
});
