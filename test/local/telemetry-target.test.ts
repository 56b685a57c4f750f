import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { DASHBOARD, telemetrySettings, telemetryTarget } from '../../local/telemetry-target.ts';

test('of the shell only what is about telemetry reaches the app', () => {
  const shell = {
    OTEL_EXPORTER_OTLP_ENDPOINT: DASHBOARD,
    OTEL_SERVICE_NAME: 'orders',
    PATH: '/bin',
    OTEL_UNSET: undefined,
  };
  expect(telemetrySettings(shell)).toEqual({ OTEL_EXPORTER_OTLP_ENDPOINT: DASHBOARD, OTEL_SERVICE_NAME: 'orders' });
});

test.each([
  [{}, `this log alone; in the dashboard of local/compose.yaml with OTEL_EXPORTER_OTLP_ENDPOINT=${DASHBOARD}`],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: DASHBOARD }, `${DASHBOARD}, besides this log`],
  [
    { APPLICATIONINSIGHTS_CONNECTION_STRING: 'InstrumentationKey=secret', OTEL_EXPORTER_OTLP_ENDPOINT: DASHBOARD },
    `${DASHBOARD} and Application Insights, besides this log`,
  ],
])('with %j telemetry goes to: %s', (settings, target) => {
  expect(telemetryTarget(settings)).toBe(target);
});

test('the dashboard of the compose file listens where the line says', () => {
  const compose = parse(readFileSync(join(import.meta.dirname, '../../local/compose.yaml'), 'utf8'));
  const ports: string[] = compose.services.dashboard.ports;
  expect(ports).toContain(`127.0.0.1:${new URL(DASHBOARD).port}:18890`);
});
