import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readHostLimits } from '../../functions/core/settings.ts';
import { readHostJson } from '../../local/host/host-json.ts';
import { project } from './support/project.ts';

const read = (file: string) => JSON.parse(readFileSync(join(project, file), 'utf8'));

/** What a committed setting may reach: this machine. */
const LOCAL_HOSTS = ['localhost', '127.0.0.1'];
/** Means the emulator at its well-known local address, with its well-known key. */
const EMULATOR = 'UseDevelopmentStorage=true';

/** The hosts in a setting: of every URL in it, and of every endpoint of a connection string. */
const hostsIn = (value: string): string[] =>
  [...value.matchAll(/\b[a-z][a-z0-9+.-]*:\/\/(?:[^@/;\s]*@)?([^:/;,\s]+)/gi)].map(([, host = '']) => host);

/** Names with dots that stand outside of a URL, as that of a namespace does. */
const dottedNamesIn = (value: string): string[] =>
  [...value.matchAll(/[\w-]+(?:\.[\w-]+)+/g)].map(([name]) => name).filter((name) => !LOCAL_HOSTS.includes(name));

test.each([
  ['Endpoint=sb://billing.servicebus.windows.net/;SharedAccessKeyName=x', ['billing.servicebus.windows.net']],
  ['DefaultEndpointsProtocol=http;TableEndpoint=http://127.0.0.1:10002/devstoreaccount1;', ['127.0.0.1']],
  ['https://user:secret@payments.example:443/charges', ['payments.example']],
  [EMULATOR, []],
])('finds the hosts in %s', (value, hosts) => {
  expect(hostsIn(value)).toEqual(hosts);
});

test('local.settings.json reaches nothing but this machine, and holds no key but the one of the emulator', () => {
  const { IsEncrypted, Values } = read('local.settings.json') as {
    IsEncrypted: boolean;
    Values: Record<string, string>;
  };
  const strangers = Object.entries(Values).filter(
    ([, value]) => hostsIn(value).some((host) => !LOCAL_HOSTS.includes(host)) || dottedNamesIn(value).length > 0,
  );
  const keys = Object.values(Values).flatMap((value) =>
    value.match(/(?:AccountKey|SharedAccessKey|Password|sig)=[^;]*/gi),
  );

  expect({ IsEncrypted, strangers, keys: keys.filter(Boolean) }).toEqual({
    IsEncrypted: false,
    strangers: [],
    keys: ['SharedAccessKey=SAS_KEY_VALUE'],
  });
  expect(Object.values(Values).flatMap(hostsIn)).toEqual(['localhost', '127.0.0.1']);
});

test('host.json says what the app takes for the limits of the host where no setting overrides it', async () => {
  const problems: string[] = [];
  const assumed = readHostLimits({}, problems);
  const { config, warnings } = await readHostJson(project, {});

  expect([problems, warnings]).toEqual([[], []]);
  expect({
    functionTimeoutInMs: config.functionTimeoutInMs,
    maxAutoLockRenewalInMs: config.serviceBus.maxAutoLockRenewalDurationInMs,
  }).toEqual(assumed);
});

test('a function is ended before the host stops to renew its lock', () => {
  const { functionTimeoutInMs, maxAutoLockRenewalInMs } = readHostLimits({}, []);

  expect(functionTimeoutInMs).toBeLessThan(maxAutoLockRenewalInMs);
});
