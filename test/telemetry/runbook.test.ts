import { readdirSync, readFileSync } from 'node:fs';
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

/** Cells of the rows of the tables below a heading, without the tables' own heads. */
function rowsBelow(heading: string): string[][] {
  const section = runbook.split(/^## /m).find((each) => each.startsWith(`${heading}\n`)) ?? '';
  const lines = section.split('\n').filter((line) => line.startsWith('| '));
  const isHead = (at: number) => /^\| -/.test(lines[at + 1] ?? '') || /^\| -/.test(lines[at] ?? '');
  return lines.filter((_, at) => !isHead(at)).map((line) => line.slice(2, -2).split(' | '));
}

const quoted = (text: string): string => `\`${text}\``;

describe('the runbook', () => {
  test('has each reason code with its replay and its hint, in the order of the table', () => {
    const ours = Object.keys(REASONS).length;
    expect(
      rowsBelow('Reason codes')
        .slice(0, ours)
        .map((cells) => cells.slice(0, 3)),
    ).toEqual(Object.entries(REASONS).map(([code, { replay, hint }]) => [quoted(code), replay, hint]));
  });

  test('has each reason that the broker writes', () => {
    const model = join(project, 'local/broker/model');
    const sources = readdirSync(model).flatMap((file) =>
      file.endsWith('.ts') ? [readFileSync(join(model, file), 'utf8')] : [],
    );
    const written = [
      ...sources.join('\n').matchAll(/(?:reason|sessionIdMissing|quotaExceeded|entityDisabled): '([A-Z][^']*?)\.?'/g),
    ];
    const reasons = new Set(written.map(([, reason = '']) => quoted(reason)));
    expect(reasons.size).toBeGreaterThan(5);
    const documented = new Set(rowsBelow('Reason codes').map(([code]) => code));
    expect([...reasons].filter((reason) => !documented.has(reason))).toEqual([]);
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
