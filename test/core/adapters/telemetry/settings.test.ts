import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
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

/** Telemetry packages that our own code loads with these settings; what is started is stopped at once. */
function loadedWith(environment: Readonly<Record<string, string>>): string[] {
  const folder = join(import.meta.dirname, '../../../../functions/core/adapters/telemetry');
  const script = `
    const { registerHooks } = await import('node:module');
    const loaded = new Set();
    registerHooks({
      resolve(name, context, next) {
        if (/functions.core/.test(context.parentURL) && /opentelemetry/.test(name)) loaded.add(name);
        return next(name, context);
      },
    });
    const { exportedTelemetry } = await import(${JSON.stringify(pathToFileURL(join(folder, 'exported-telemetry.ts')).href)});
    await exportedTelemetry(process.env);
    console.log(JSON.stringify([...loaded]));
    process.exit();`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
    env: { APPLICATION_INSIGHTS_NO_STATSBEAT: 'true', ...environment },
  });
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

/** Nobody listens there. */
const NOWHERE = 'http://127.0.0.1:9';
const OF_OTLP = '@opentelemetry/exporter-trace-otlp-proto';
const OF_AZURE = '@azure/monitor-opentelemetry';

test('without settings not even the API is loaded', () => {
  expect(loadedWith({})).toEqual([]);
});

test('with an endpoint for OTLP nothing of Azure Monitor is loaded, with a connection string nothing of OTLP', () => {
  const withEndpoint = loadedWith({ OTEL_EXPORTER_OTLP_ENDPOINT: NOWHERE });
  expect(withEndpoint).toContain(OF_OTLP);
  expect(withEndpoint).not.toContain(OF_AZURE);

  const withConnection = loadedWith({
    APPLICATIONINSIGHTS_CONNECTION_STRING: `InstrumentationKey=00000000-0000-0000-0000-000000000001;IngestionEndpoint=${NOWHERE}`,
  });
  expect(withConnection).toContain(OF_AZURE);
  expect(withConnection).not.toContain(OF_OTLP);
});
