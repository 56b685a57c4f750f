import { describe, expect, it } from 'vitest';
import { filesOf } from '../../infra/checks/sources.ts';
import { ofType, project, readText, type Snapshot, snapshots, theOnly } from './support/built.ts';

const BASIC_PUBLISHING = 'Microsoft.Web/sites/basicPublishingCredentialsPolicies';

describe.each(snapshots)('$stage', (snapshot: Snapshot) => {
  it('takes no keys for Service Bus, and TLS 1.2 at least', () => {
    expect(theOnly(snapshot, 'Microsoft.ServiceBus/namespaces').properties).toMatchObject({
      disableLocalAuth: true,
      minimumTlsVersion: '1.2',
    });
  });

  it('takes no keys for storage, shows no blob to the public, and takes TLS 1.2 at least', () => {
    expect(theOnly(snapshot, 'Microsoft.Storage/storageAccounts').properties).toMatchObject({
      allowBlobPublicAccess: false,
      allowCrossTenantReplication: false,
      allowSharedKeyAccess: false,
      minimumTlsVersion: 'TLS1_2',
      supportsHttpsTrafficOnly: true,
    });
    const containers = ofType(snapshot, 'Microsoft.Storage/storageAccounts/blobServices/containers');
    expect(containers.map(({ properties }) => properties.publicAccess)).toEqual(['None']);
  });

  it('takes telemetry and queries by identity only', () => {
    expect(theOnly(snapshot, 'Microsoft.Insights/components').properties.DisableLocalAuth).toBe(true);
    expect(theOnly(snapshot, 'Microsoft.OperationalInsights/workspaces').properties.features.disableLocalAuth).toBe(
      true,
    );
  });

  it('serves the app over TLS 1.2 and lets nobody publish with a password', () => {
    const { properties } = theOnly(snapshot, 'Microsoft.Web/sites');
    expect(properties.httpsOnly).toBe(true);
    expect(properties.siteConfig).toMatchObject({
      minTlsVersion: '1.2',
      scmMinTlsVersion: '1.2',
      ftpsState: 'Disabled',
    });
    const policies = ofType(snapshot, BASIC_PUBLISHING).map(({ name, properties }) => [
      name.split('/')[1],
      properties.allow,
    ]);
    expect(policies).toEqual([
      ['ftp', false],
      ['scm', false],
    ]);
  });

  it('says nothing in its outputs but names', () => {
    expect(Object.keys(snapshot.outputs).sort()).toEqual([
      'AZURE_LOCATION',
      'AZURE_RESOURCE_GROUP',
      'FUNCTION_APP_NAME',
      'SERVICE_BUS_NAMESPACE',
    ]);
  });
});

describe('all stages', () => {
  it('have names of their own', () => {
    const groups = snapshots.map((snapshot) => theOnly(snapshot, 'Microsoft.Resources/resourceGroups').name);
    expect(new Set(groups).size).toBe(snapshots.length);
  });

  it('are closed to the internet where they are isolated, and have no private endpoint elsewhere', () => {
    const view = Object.fromEntries(
      snapshots.map((snapshot) => [
        snapshot.stage,
        {
          tier: theOnly(snapshot, 'Microsoft.ServiceBus/namespaces').sku?.['tier'],
          serviceBus: theOnly(snapshot, 'Microsoft.ServiceBus/namespaces').properties.publicNetworkAccess,
          storage: theOnly(snapshot, 'Microsoft.Storage/storageAccounts').properties.publicNetworkAccess,
          endpoints: ofType(snapshot, 'Microsoft.Network/privateEndpoints').length,
        },
      ]),
    );
    const open = { tier: 'Standard', serviceBus: 'Enabled', storage: 'Enabled', endpoints: 0 };
    expect(view).toEqual({
      dev: open,
      test: open,
      prod: open,
      'prod-isolated': { tier: 'Premium', serviceBus: 'Disabled', storage: 'Disabled', endpoints: 3 },
    });
  });

  it('are locked against deletion in production only: logs, ledger, messages', () => {
    const locks = snapshots.map((snapshot) => [
      snapshot.stage,
      ofType(snapshot, 'Microsoft.Authorization/locks').map(({ name, properties }) => [
        name.replace(/^lock-(log|st|sb).*/, '$1'),
        properties.level,
      ]),
    ]);
    const all = ['log', 'st', 'sb'].map((name) => [name, 'CanNotDelete']);
    expect(Object.fromEntries(locks)).toEqual({ dev: [], test: [], prod: all, 'prod-isolated': all });
  });
});

describe('the template', () => {
  const template = readText('infra/main.json');

  it('asks for no key anywhere', () => {
    expect(template).not.toMatch(/list(Keys|ConnectionStrings|Secrets|AccountSas|ServiceSas|Credentials)\b/i);
    expect(template).not.toMatch(/SharedAccessKey|AccountKey=/);
  });

  it('has no output that holds a secret', () => {
    const outputs: [string, unknown][] = [];
    JSON.parse(template, function (this: unknown, key, value) {
      if (key === 'outputs' && value && typeof value === 'object') outputs.push(...Object.entries(value));
      return value;
    });
    expect(outputs.length).toBeGreaterThan(20);
    for (const [name, output] of outputs) {
      expect(JSON.stringify(output), name).not.toMatch(
        /secure|ConnectionString|InstrumentationKey|password|list[A-Z]\w+\(/i,
      );
    }
  });

  it('takes all modules from this folder: a registry cannot be reached everywhere', () => {
    const sources = filesOf(project, ['infra/*.bicep', 'infra/modules/*.bicep']);
    expect(sources.length).toBeGreaterThan(15);
    for (const file of sources) {
      for (const [, from] of readText(file).matchAll(/^(?:module \w+|import .+ from) '([^']+)'/gm)) {
        expect(from, file).toMatch(/^[\w./-]+\.bicep$/);
      }
    }
  });

  it('describes every module, parameter, output, type and function', () => {
    for (const file of filesOf(project, ['infra/*.bicep', 'infra/modules/*.bicep'])) {
      const text = readText(file);
      expect(text, file).toMatch(/^metadata name = '.+'\nmetadata description = '.+'/m);
      const declarations = text.split(/\n\s*\n/).filter((block) => /^(?:param|output|type|func) \w+/m.test(block));
      expect(
        declarations.filter((block) => !/^@description\('/m.test(block)),
        file,
      ).toEqual([]);
      for (const [, description] of text.matchAll(/@description\('((?:[^'\\]|\\.)*)'\)\n(?:@.*\n)*param /g)) {
        expect(description, file).toMatch(/^(Required|Optional)\. /);
      }
    }
  });
});
