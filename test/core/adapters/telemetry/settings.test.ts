import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readIdentity } from '../../../../functions/core/adapters/telemetry/azure-monitor.ts';
import { isExported } from '../../../../functions/core/adapters/telemetry/exported-telemetry.ts';

test.each([
  [undefined, undefined],
  ['', undefined],
  ['Authorization=AAD', {}],
  [
    'ClientId=11111111-2222-3333-4444-555555555555;Authorization=AAD',
    { clientId: '11111111-2222-3333-4444-555555555555' },
  ],
  ['authorization=aad; clientid=abc;', { clientId: 'abc' }],
])('the identity that signs what is exported: %j is %j', (authentication, identity) => {
  expect(readIdentity(authentication)).toEqual(identity);
});

test('an authentication that is none stops the app, saying what was expected', () => {
  expect(() => readIdentity('ClientId=abc')).toThrow(
    'APPLICATIONINSIGHTS_AUTHENTICATION_STRING: expected "Authorization=AAD", with "ClientId=..." for an identity of its own; got "ClientId=abc"',
  );
});

test.each([
  [{}, false],
  [{ APPLICATIONINSIGHTS_CONNECTION_STRING: '', OTEL_EXPORTER_OTLP_ENDPOINT: '' }, false],
  [{ APPLICATIONINSIGHTS_CONNECTION_STRING: 'InstrumentationKey=1' }, true],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318' }, true],
])('with %j it is %j that telemetry is exported', (environment, is) => {
  expect(isExported(environment)).toBe(is);
});

test('without settings nothing is started', () => {
  const folder = join(import.meta.dirname, '../../../../functions/core/adapters/telemetry');
  const file = JSON.stringify(join(folder, 'exported-telemetry.ts'));
  const script = `
    const { exportedTelemetry } = await import(${file});
    const started = await exportedTelemetry({});
    console.log(started, Symbol.for('opentelemetry.js.api.1') in globalThis);`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' });

  expect(stdout).toBe('undefined false\n');
});
