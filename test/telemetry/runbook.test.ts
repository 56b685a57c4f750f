import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { METRICS } from '../../functions/core/adapters/telemetry/instruments.ts';
import { REASONS } from '../../functions/core/rules/dead-letter.ts';
import { TransientError } from '../../functions/core/rules/errors.ts';
import { aWatchedConsumer } from '../core/adapters/telemetry/a-watched-consumer.ts';
import { aDelivery, aPolicy } from '../fixtures/deliveries.ts';
import { ofType, project, readText, snapshots } from '../infra/support/built.ts';
import { analyse } from '../infra/support/kusto.ts';

const runbook = readText('docs/runbook.md');

/** Cells of the rows of the table below a heading, without the table's own head. */
function rowsBelow(heading: string): string[][] {
  const section = runbook.split(/^## /m).find((each) => each.startsWith(`${heading}\n`)) ?? '';
  const lines = section.split('\n').filter((line) => line.startsWith('| '));
  return lines.slice(2).map((line) => line.slice(2, -2).split(' | '));
}

const quoted = (text: string): string => `\`${text}\``;

describe('the runbook', () => {
  test('has each reason code with its replay and its hint, in the order of the table', () => {
    expect(rowsBelow('Reason codes').map((cells) => cells.slice(0, 3))).toEqual(
      Object.entries(REASONS).map(([code, { replay, hint }]) => [quoted(code), replay, hint]),
    );
  });

  test('has each alert of each stage, with its severity', () => {
    const queue = JSON.parse(readText('local/entities.json')).UserConfig.Namespaces[0].Queues[0].Name;
    const alerts = snapshots.flatMap((snapshot) =>
      ['Microsoft.Insights/metricAlerts', 'Microsoft.Insights/scheduledQueryRules'].flatMap((type) =>
        ofType(snapshot, type).map(({ name, properties }) => ({
          key: name.replace(/^[a-z]+-\w{8}-/, ''),
          severity: String(properties.severity),
        })),
      ),
    );
    const written = new Map(rowsBelow('Alerts').map(([alert = '', severity]) => [alert, severity]));
    const expected = new Map(
      alerts
        .filter(({ key }) => !/^(dead-letters|scheduled|active|size)-/.test(key) || key.endsWith(`-${queue}`))
        .map(({ key, severity }) => [quoted(key.replace(queue, 'QUEUE')), severity]),
    );
    expect(Object.fromEntries(written)).toEqual(Object.fromEntries(expected));
  });

  test('has each metric as it is declared', () => {
    expect(rowsBelow('Metrics')).toEqual(
      Object.values(METRICS).map(({ name, kind, unit, attributes, description }) => [
        quoted(name),
        kind,
        quoted(unit),
        attributes.map(quoted).join(', '),
        description,
      ]),
    );
  });

  test('has an example of each query, with columns that the query gives', () => {
    const { tables } = JSON.parse(readText('infra/queries/telemetry.json'));
    const rows = rowsBelow('What the queries show');
    const files = readdirSync(join(project, 'infra/queries')).filter((file) => file.endsWith('.kql'));
    expect(rows.map(([file]) => file).sort()).toEqual(files.map(quoted).sort());
    for (const [file = '', example = ''] of rows) {
      const { columns } = analyse(readText(`infra/queries/${file.slice(1, -1)}`), tables);
      const named = example.split(', ').map((cell) => cell.split(' ')[0] ?? '');
      expect(columns, file).toEqual(expect.arrayContaining(named));
    }
  });
});

test('an event whose window ended while its function was stopped has one more attempt, then is given up', async () => {
  const consumer = aWatchedConsumer(() => Promise.reject(new TransientError('down')));

  const reports = await consumer.deliverAll(aDelivery(), aPolicy().windowInMs);

  expect(reports.map(({ attempt, tries, outcome, reason }) => [attempt, tries, outcome, reason])).toEqual([
    [1, 1, 'redelivered', 'TransientError'],
    [2, 1, 'dead-lettered', 'RetryWindowExceeded'],
  ]);
});
