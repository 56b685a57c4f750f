import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { logTelemetry } from '../../functions/core/adapters/telemetry/log-telemetry.ts';
import { REASONS } from '../../functions/core/rules/dead-letter.ts';
import { filesOf } from '../../infra/checks/sources.ts';
import { ofType, project, readText, type Snapshot, snapshots, theOnly } from './support/built.ts';
import { analyse } from './support/kusto.ts';

const folder = join(project, 'infra/queries');
const queries = readdirSync(folder)
  .filter((file) => file.endsWith('.kql'))
  .map((file) => ({ file, query: readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n') }));
const { metrics, logRecord, tables } = JSON.parse(readText('infra/queries/telemetry.json'));

/** The text in single quotes after a field. */
const named = (query: string, pattern: RegExp): string[] =>
  [...query.matchAll(pattern)].map(([, name]) => name as string);

describe.each(queries)('$file', ({ query }) => {
  it('parses and binds', () => {
    const { problems, columns } = analyse(query, tables);
    expect(problems).toEqual([]);
    expect(columns).not.toEqual([]);
  });

  it('says what it shows', () => {
    expect(query).toMatch(/^\/\/ \w/);
  });

  it('asks for metrics and attributes that are declared', () => {
    const asked = named(query, /'((?:redelivery|messaging)\.[\w.]+)'/g);
    const declared = Object.entries<{ attributes: string[] }>(metrics).flatMap(([name, { attributes }]) => [
      name,
      ...attributes,
    ]);
    expect(asked.filter((name) => !declared.includes(name))).toEqual([]);
    const askedMetrics = asked.filter((name) => name in metrics);
    for (const attribute of named(query, /customDimensions\['([\w.]+)'\]/g)) {
      for (const metric of askedMetrics) expect(metrics[metric].attributes, metric).toContain(attribute);
    }
  });

  it('asks for fields of the log record that are declared', () => {
    const fields = named(query, /Report\.(\w+)/g).filter((field) => field !== 'event');
    expect(fields.filter((field) => !logRecord.fields.includes(field))).toEqual([]);
  });
});

it('a query with an unknown column or table does not bind', () => {
  expect(analyse("customMetrics | where nmae == 'x'", tables).problems).toHaveLength(1);
  expect(analyse('requests | take 1', tables).problems).toHaveLength(1);
});

it('every declared metric is used by a query', () => {
  const all = queries.map(({ query }) => query).join('\n');
  expect(Object.keys(metrics).filter((name) => !all.includes(`'${name}'`))).toEqual([]);
});

it('the reasons that a query names are reason codes', () => {
  const reasons = queries.flatMap(({ query }) => named(query, /'([A-Z][A-Za-z]+(?:Exhausted|Exceeded))'/g));
  expect(reasons.length).toBeGreaterThan(0);
  expect(reasons.filter((reason) => !(reason in REASONS))).toEqual([]);
});

it('the app writes the log record that is declared', () => {
  const lines: string[] = [];
  logTelemetry((_, line) => lines.push(line)).processed({
    consumer: 'q/e',
    eventId: '1',
    messageId: '1',
    sequenceNumber: '1',
    deliveryCount: 1,
    generation: 0,
    attempt: 1,
    maxAttempts: 5,
    tries: 1,
    outcome: 'dead-lettered',
    reason: 'MalformedBody',
    durationInMs: 5,
  });
  const record = JSON.parse(lines[0] ?? '{}');
  expect(record.event).toBe(logRecord.event);
  expect(logRecord.fields.filter((field: string) => !(field in record))).toEqual([]);
});

/** Where the app declares its metrics, once it does. */
const exported = filesOf(project, ['functions/core/**/*.ts']).flatMap((file) =>
  named(readText(file), /'((?:redelivery|messaging)\.[a-z_.]+)'/g),
);
it.skipIf(!exported.some((name) => name.startsWith('redelivery.')))(
  'the app exports every metric that is declared',
  () => {
    const declared = Object.entries<{ attributes: string[] }>(metrics).flatMap(([name, { attributes }]) => [
      name,
      ...attributes,
    ]);
    expect(declared.filter((name) => !exported.includes(name))).toEqual([]);
  },
);

describe.each(snapshots)('$stage', (snapshot: Snapshot) => {
  it('asks in its alerts what the files say, by columns that the query gives', () => {
    for (const { name, properties } of ofType(snapshot, 'Microsoft.Insights/scheduledQueryRules')) {
      const [{ query, metricMeasureColumn, dimensions }] = properties.criteria.allOf;
      expect(
        queries.map((each) => each.query),
        name,
      ).toContain(query);
      const { columns } = analyse(query, tables);
      expect(columns, name).toEqual(
        expect.arrayContaining([
          metricMeasureColumn,
          ...dimensions.map((dimension: { name: string }) => dimension.name),
        ]),
      );
    }
  });

  it('shows in its workbook what the files say, each query bound, each column there', () => {
    const items = workbookItems(snapshot);
    const asked = items.filter(({ type }) => type === 3);
    expect(asked.map(({ name }) => name)).toEqual([
      'outcomes',
      'retry-ratio',
      'retries-by-attempt',
      'delays',
      'reasons',
      'attempts-exhausted',
      'processing-duration',
      'locks-lost',
      'duplicates',
      'deferrals',
      'slowest-chains',
    ]);
    for (const { name, content } of asked) {
      expect(content.query, name).toBe(readFileSync(join(folder, `${name}.kql`), 'utf8').replaceAll('\r\n', '\n'));
      const { problems, columns } = analyse(content.query, tables);
      expect(problems, name).toEqual([]);
      expect(columns, name).toEqual(expect.arrayContaining(content.chartSettings?.yAxis ?? []));
    }
  });

  it('shows depths as the platform measures them, and leads to the whole transaction', () => {
    const items = workbookItems(snapshot);
    const depths = items.filter(({ type }) => type === 10).map(({ content }) => content.metrics[0].metric);
    expect(depths.sort()).toEqual([
      'microsoft.servicebus/namespaces--ActiveMessages',
      'microsoft.servicebus/namespaces--DeadletteredMessages',
      'microsoft.servicebus/namespaces--ScheduledMessages',
    ]);
    const chains = items.find(({ name }) => name === 'slowest-chains')?.content;
    expect(chains.gridSettings.formatters).toMatchObject([
      { columnMatch: '^Transaction$', formatOptions: { linkTarget: 'Url' } },
    ]);
    expect(analyse(chains.query, tables).columns).toContain('Transaction');
  });
});

// biome-ignore lint/suspicious/noExplicitAny: the portal's own format
function workbookItems(snapshot: Snapshot): { type: number; name: string; content: any }[] {
  const { serializedData } = theOnly(snapshot, 'Microsoft.Insights/workbooks').properties;
  return JSON.parse(serializedData).items;
}
