import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { TableClient } from '@azure/data-tables';
import { afterEach, expect, test } from 'vitest';
import { type Azurite, startAzurite } from '../../local/azurite.ts';

const fixture = (file: string) => new URL(`../fixtures/${file}`, import.meta.url).pathname;

let started: Azurite[] = [];

afterEach(async () => {
  await Promise.all(started.map((azurite) => azurite.stop()));
  started = [];
});

async function start(options?: Parameters<typeof startAzurite>[0]): Promise<Azurite> {
  const azurite = await startAzurite(options);
  started.push(azurite);
  return azurite;
}

async function answers(tableEndpoint: string): Promise<boolean> {
  return fetch(tableEndpoint).then(
    () => true,
    () => false,
  );
}

test('keeps what the table client writes to it', async () => {
  const azurite = await start();
  const client = TableClient.fromConnectionString(azurite.connectionString, 'ledger', {
    allowInsecureConnection: true,
  });
  await client.createTable();

  await client.createEntity({ partitionKey: 'p', rowKey: 'r', kind: 'completed' });

  expect(await client.getEntity('p', 'r')).toMatchObject({ partitionKey: 'p', rowKey: 'r', kind: 'completed' });
});

test('two of them share nothing', async () => {
  const [one, two] = await Promise.all([start(), start()]);

  expect(one.tableEndpoint).not.toBe(two.tableEndpoint);
});

test('answers nobody after it has stopped, and stops once more without complaint', async () => {
  const azurite = await start();

  await azurite.stop();
  await azurite.stop();

  expect(await answers(azurite.tableEndpoint)).toBe(false);
});

test('says what went wrong and what Azurite printed when the port is taken', async () => {
  const port = Number(new URL((await start()).tableEndpoint).port);

  await expect(startAzurite({ port })).rejects.toThrow(
    new RegExp(
      `^Azurite did not start on 127.0.0.1:${port}: it ended with exit code 1. Its last output: .*EADDRINUSE`,
      's',
    ),
  );
});

test('ends with its parent, even when that is killed', async () => {
  const parent = spawn(process.execPath, [fixture('azurite-parent.ts')], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [tableEndpoint] = (await once(createInterface(parent.stdout), 'line')) as [string];
  expect(await answers(tableEndpoint)).toBe(true);

  parent.kill('SIGKILL');

  await expect.poll(() => answers(tableEndpoint), { timeout: 10_000 }).toBe(false);
});
