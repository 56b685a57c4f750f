import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadEntities, parseEntities } from '../../../local/broker/entities.ts';
import { defaultRule, sqlAction, sqlFilter } from '../../../local/broker/model/filter/rule.ts';
import { defaultQueueSettings } from '../../../local/broker/model/queue-settings.ts';

function aFile(queues: string): string {
  return `{"UserConfig": {"Namespaces": [{"Name": "sbemulatorns", "Queues": [${queues}]}]}}`;
}

test('reads the entity file of this project', async () => {
  const { queues } = await loadEntities(join(import.meta.dirname, '../../../local/entities.json'));
  expect(queues.get('billing-order-placed')).toEqual({
    ...defaultQueueSettings,
    deadLetteringOnMessageExpiration: true,
    maxDeliveryCount: 10,
  });
});

test('gives a queue the defaults of the emulator', () => {
  expect(parseEntities(aFile('{"Name": "q"}'), 'f.json').queues.get('q')).toEqual(defaultQueueSettings);
});

test('allows comments and trailing commas', () => {
  expect(parseEntities(aFile('/* one */ {"Name": "q",}, // last\n'), 'f.json').queues.size).toBe(1);
});

test('reports every problem with its line, what was expected and what was found', () => {
  const text = `{"UserConfig": {
    "Namespaces": [{
      "Name": "mine",
      "Queues": [
        {"Properties": {}},
        {"Name": "a", "Properties": {
          "MaxDeliveryCount": 11,
          "LockDuration": "PT6M",
          "RequiresSession": "yes",
          "Colour": "red"
        }}
      ]
    }]
  }}`;
  expect(() => parseEntities(text, 'Config.json')).toThrow(
    [
      'Config.json:3: UserConfig.Namespaces[0].Name: expected "sbemulatorns", got "mine"',
      'Config.json:5: UserConfig.Namespaces[0].Queues[0].Name: expected a name of 1 to 260 letters, digits, and . / ~ _ - between them, got nothing',
      'Config.json:7: UserConfig.Namespaces[0].Queues[1].Properties.MaxDeliveryCount: expected an integer from 1 to 10, got 11',
      'Config.json:8: UserConfig.Namespaces[0].Queues[1].Properties.LockDuration: expected a duration from PT5S to PT5M, got "PT6M"',
      'Config.json:9: UserConfig.Namespaces[0].Queues[1].Properties.RequiresSession: expected true or false, got "yes"',
      'Config.json:10: UserConfig.Namespaces[0].Queues[1].Properties.Colour: expected no property of that name, got "red"',
    ].join('\n'),
  );
});

test('reports where the file is no JSON', () => {
  expect(() => parseEntities('{\n  "UserConfig": }', 'f.json')).toThrow(
    /^f\.json:2: the file: expected JSON with comments/,
  );
});

test('refuses two queues whose names differ in case only', () => {
  expect(() => parseEntities(aFile('{"Name": "q"},\n{"Name": "Q"}'), 'f.json')).toThrow(
    'f.json:2: UserConfig.Namespaces[0].Queues[1].Name: expected a name that no other has here, got "Q"',
  );
});

test('reads topics with their subscriptions and rules', () => {
  const text = `{"UserConfig": {"Namespaces": [{"Name": "sbemulatorns", "Queues": [{"Name": "billing"}], "Topics": [{
    "Name": "events",
    "Properties": {"RequiresDuplicateDetection": true},
    "Subscriptions": [
      {"Name": "all", "Properties": {"ForwardTo": "billing"}},
      {"Name": "some", "Rules": [
        {"Name": "sql", "Properties": {"FilterType": "Sql", "SqlFilter": {"SqlExpression": "n > 1"}, "Action": {"SqlExpression": "SET n = 2"}}},
        {"Name": "eq", "Properties": {"FilterType": "Correlation", "CorrelationFilter": {"Label": "new", "Properties": {"n": 1}}}}
      ]}
    ]
  }]}]}}`;
  const events = parseEntities(text, 'f.json').topics?.get('events');
  expect(events).toMatchObject({ defaultTimeToLiveInMs: 3_600_000, duplicateDetectionWindowInMs: 20_000 });
  expect(events?.subscriptions.get('all')).toEqual({
    queue: { ...defaultQueueSettings, forwardTo: 'billing' },
    rules: [defaultRule],
  });
  expect(events?.subscriptions.get('some')?.rules).toEqual([
    { name: 'sql', filter: sqlFilter('n > 1'), action: sqlAction('SET n = 2') },
    {
      name: 'eq',
      filter: { kind: 'correlation', fields: { subject: 'new' }, properties: new Map([['n', 1]]) },
      action: undefined,
    },
  ]);
});

test('refuses topics without subscriptions, rules that cannot be read and forwarding to nowhere', () => {
  const inNamespace = (rest: string) => `{"UserConfig": {"Namespaces": [{"Name": "sbemulatorns", ${rest}}]}}`;
  const rule = (properties: string) => `{"Name": "r", "Properties": ${properties}}`;
  const rules = [
    rule('{"FilterType": "Sql", "SqlFilter": {"SqlExpression": "n >"}}'),
    rule('{"FilterType": "Sql", "SqlFilter": {"SqlExpression": "newid() = 1"}}'),
    rule('{"FilterType": "Correlation"}'),
    rule('{"FilterType": "Regex"}'),
  ];
  const subscriptions = `[{"Name": "s", "Rules": [${rules.join(',\n')}]}]`;
  const text = inNamespace(`"Topics": [{"Name": "empty"},\n{"Name": "t", "Subscriptions": ${subscriptions}}]`);
  const problems = [/:1: .*Topics\[0\].Subscriptions: expected at least one subscription, got nothing/];
  problems.push(/:2: .*Rules\[0\].*: expected a SQL filter \(Unexpected 'the end' in: n >\.\), got "n >"/);
  problems.push(/:3: .*Rules\[1\].*: expected a SQL filter \(The function 'NEWID' is not supported by this broker\.\)/);
  problems.push(
    /:4: .*Rules\[2\].*CorrelationFilter: expected a CorrelationFilter, as the FilterType says, got nothing/,
  );
  problems.push(/:5: .*Rules\[3\].*FilterType: expected "Sql" or "Correlation", got "Regex"/);
  for (const problem of problems) expect(() => parseEntities(text, 'f.json')).toThrow(problem);
  const forwarding = inNamespace('"Queues": [{"Name": "a", "Properties": {\n"ForwardTo": "b"}}]');
  expect(() => parseEntities(forwarding, 'f.json')).toThrow(
    'f.json:2: UserConfig.Namespaces[0].Queues[0].Properties.ForwardTo: expected the name of a queue or a topic in this file, got "b"',
  );
});

test.each([
  ['emulator', 256, 100],
  ['azure', 256, 1024],
  ['premium', 1024, 1024],
] as const)('gives entities of the tier %s messages of %i KB and room for %i MB', (tier, kilobytes, megabytes) => {
  const text = `{"UserConfig": {"Namespaces": [{"Name": "sbemulatorns", "Queues": [{"Name": "q"}], "Topics": [
    {"Name": "t", "Subscriptions": [{"Name": "s"}]}]}]}}`;
  const { queues, topics } = parseEntities(text, 'f.json', tier);
  const sizes = { maxMessageSizeInBytes: kilobytes * 1024, maxSizeInBytes: megabytes * 1024 * 1024 };
  expect([queues.get('q'), topics?.get('t')]).toEqual([expect.objectContaining(sizes), expect.objectContaining(sizes)]);
});

test('lets a namespace have a name of its own where it is not the emulator', () => {
  const text = '{"UserConfig": {"Namespaces": [{"Name": "shop-bus", "Queues": [{"Name": "q"}]}]}}';
  expect(() => parseEntities(text, 'f.json')).toThrow(/Name: expected "sbemulatorns", got "shop-bus"/);
  expect(parseEntities(text, 'f.json', 'azure').queues.size).toBe(1);
  expect(() => parseEntities(text.replace('shop-bus', 'no'), 'f.json', 'azure')).toThrow(
    /Name: expected a name of 6 to 50 letters, digits and -, got "no"/,
  );
});

test('lifts the caps of the emulator for the tier azure', () => {
  const text = aFile('{"Name": "q", "Properties": {"MaxDeliveryCount": 100, "DefaultMessageTimeToLive": "P14D"}}');
  expect(() => parseEntities(text, 'f.json')).toThrow(
    /expected a duration from PT5M to PT1H, got "P14D"\n.*expected an integer from 1 to 10, got 100/,
  );
  expect(parseEntities(text, 'f.json', 'azure').queues.get('q')).toMatchObject({
    maxDeliveryCount: 100,
    defaultTimeToLiveInMs: 14 * 86_400_000,
  });
});
