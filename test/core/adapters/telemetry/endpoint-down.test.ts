import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';

const file = join(import.meta.dirname, '../../../../functions/core/adapters/telemetry/start-telemetry.ts');

test('with nobody at the endpoint deliveries are processed as ever, and the process ends', () => {
  const script = `
    const { startTelemetry } = await import(${JSON.stringify(pathToFileURL(file).href)});
    const telemetry = await startTelemetry({ OTEL_EXPORTER_OTLP_ENDPOINT: process.env.OTEL_EXPORTER_OTLP_ENDPOINT });
    const clock = { nowUtc: Date.now, monotonicInMs: () => performance.now() };
    const delivery = { entity: 'q', messageId: 'A', deliveryCount: 1, enqueuedUtc: 0, properties: new Map() };
    let done = 0;
    // More than the SDK keeps.
    for (let n = 0; n < 5_000; n++) {
      await telemetry.watch({ delivery, consumer: 'q/c', clock }).within(async () => {
        telemetry.log({ category: 'user', level: 'information', message: 'line' });
        done++;
      });
    }
    await telemetry.stop();
    console.log(done);
    process.exit();`;
  const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' },
  });

  expect({ stdout, status }).toEqual({ stdout: '5000\n', status: 0 });
});
