import { expect, test } from 'vitest';
import { logTelemetry } from '../../../../functions/core/adapters/telemetry/log-telemetry.ts';
import { PermanentError } from '../../../../functions/core/rules/errors.ts';
import { first } from '../../../fakes/faults.ts';
import { aDelivery } from '../../../fixtures/deliveries.ts';
import { aWatchedConsumer } from './a-watched-consumer.ts';

const SECRET = 'c2VjcmV0LXNlY3JldC1zZWNyZXQ=';
const quoting = (what: string) => `${what}: Endpoint=sb://orders;SharedAccessKeyName=app;SharedAccessKey=${SECRET}`;

test('what a handler and a settlement quote in their errors reaches neither span nor line', async () => {
  const consumer = aWatchedConsumer(
    () => Promise.reject(new PermanentError('Refused', quoting('refused'))),
    first(1, new Error(quoting('not settled'))),
  );
  for (const messageId of ['A', 'B']) await consumer.deliver(aDelivery({ messageId }));

  const said = JSON.stringify([
    consumer.lines(),
    consumer.spans().map(({ status, attributes, events }) => ({ status, attributes, events })),
  ]);
  expect(said).toContain('refused: Endpoint=sb://orders');
  expect(said).toContain('not settled: Endpoint=sb://orders');
  expect(said).not.toContain(SECRET);
});

test('a note about a store or a link that fails holds none either', () => {
  const lines: string[] = [];
  logTelemetry((_, line) => lines.push(line)).log('warning', quoting('no answer'));
  expect(lines.join()).toContain('SharedAccessKey=[redacted]');
});
