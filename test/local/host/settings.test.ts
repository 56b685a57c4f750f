import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { resolveConnection, resolveReferences } from '../../../local/host/setting-reference.ts';
import { readLocalSettings } from '../../../local/host/settings.ts';
import { timeSpanInMs } from '../../../local/host/time-span.ts';

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'settings-'));
});

afterAll(() => rm(directory, { recursive: true }));

async function read(content: string): Promise<Record<string, string>> {
  const path = join(directory, 'local.settings.json');
  await writeFile(path, content);
  return readLocalSettings(path);
}

describe('local.settings.json', () => {
  test('gives its values', async () => {
    expect(await read('{ "IsEncrypted": false, "Values": { "A": "1" } }')).toEqual({ A: '1' });
  });

  test.each([
    ['{ "Values": { "A": 1 } }', /: Values\.A must be a string, got 1\./],
    ['{ "Values": [] }', /: Values must be an object of strings, got \[\]\./],
    ['{ "IsEncrypted": true }', / is encrypted\./],
    ['{', / is no JSON: /],
  ])('is refused where it is wrong: %s', async (content, message) => {
    await expect(read(content)).rejects.toThrow(message);
  });

  test('must be there', async () => {
    await expect(readLocalSettings(join(directory, 'nowhere.json'))).rejects.toThrow(
      /^Cannot read .*nowhere\.json \(ENOENT\)\./,
    );
  });
});

describe('what a trigger refers to', () => {
  test('%SETTING% is the setting of that name, upper or lower case [W5]', () => {
    expect(resolveReferences('%Queue%-%suffix%', { QUEUE: 'orders', suffix: 'x' }, 'A')).toBe('orders-x');
  });

  test('a setting that is missing is named', () => {
    expect(() => resolveReferences('%QUEUE%', {}, 'The trigger of function "a", queueName,')).toThrow(
      'The trigger of function "a", queueName, refers to %QUEUE%, but there is no setting QUEUE.',
    );
  });

  test.each([
    [
      'a connection string',
      { Bus: 'Endpoint=sb://x' },
      { kind: 'connectionString', connectionString: 'Endpoint=sb://x' },
    ],
    [
      'one with the prefix of old',
      { AzureWebJobsBus: 'Endpoint=sb://y' },
      { kind: 'connectionString', connectionString: 'Endpoint=sb://y' },
    ],
    ['a namespace', { Bus__fullyQualifiedNamespace: 'x.net' }, { kind: 'namespace', fullyQualifiedNamespace: 'x.net' }],
  ])('connection is %s [W5]', (_, settings, expected) => {
    expect(resolveConnection('Bus', settings as unknown as Record<string, string>, 'A')).toEqual(expected);
  });

  test('a connection that is missing is named in both forms', () => {
    expect(() => resolveConnection('Bus', {}, 'A')).toThrow(
      'A uses the connection "Bus", but there is no setting Bus and no Bus__fullyQualifiedNamespace.',
    );
  });
});

test.each([
  ['00:04:30', 270_000],
  ['01:00', 3_600_000],
  ['1.00:00:00', 86_400_000],
  ['00:00:00.25', 250],
  ['-00:00:01', -1_000],
  ['24:00:00', undefined],
  ['5m', undefined],
])('the time span %s is %s ms', (text, inMs) => {
  expect(timeSpanInMs(text)).toBe(inMs);
});
