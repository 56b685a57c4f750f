import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startBroker } from '../../../local/broker/start-broker.ts';
import { aBroker } from './a-broker.ts';

const entities = { queues: new Map() };

test('says in one line that the port is taken, where, and what to do', async () => {
  const { broker } = await aBroker();
  await expect(startBroker({ entities, port: broker.port })).rejects.toThrow(
    `The broker cannot listen on 127.0.0.1:${broker.port}: the port is taken. What to do: stop what listens there, or choose another port.`,
  );
});

test('frees the port and cuts its clients when it stops', async () => {
  const broker = await startBroker({ entities });
  const socket = createConnection(broker.port, '127.0.0.1').on('error', () => {});
  await once(socket, 'connect');
  const cut = once(socket, 'close');
  await broker.stop();
  await cut;
  const again = await startBroker({ entities, port: broker.port });
  await again.stop();
});

test('leaves nothing behind that keeps the process alive', async () => {
  const script = `
    const { ServiceBusClient } = await import('@azure/service-bus');
    const { startBroker } = await import('./local/broker/start-broker.ts');
    const { loadEntities } = await import('./local/broker/entities.ts');
    const broker = await startBroker({ entities: await loadEntities('local/entities.json') });
    const client = new ServiceBusClient(broker.connectionString);
    await client.createSender('billing-order-placed').sendMessages({ body: 1, scheduledEnqueueTimeUtc: new Date(Date.now() + 60_000) });
    await client.close();
    await broker.stop();
    process.stdout.write('stopped');`;
  const project = join(import.meta.dirname, '../../..');
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { cwd: project, timeout: 15_000 });
  let output = '';
  child.stdout.on('data', (text) => {
    output += text;
  });
  expect(await once(child, 'exit')).toEqual([0, null]);
  expect(output).toBe('stopped');
});

test('runs alone with a file and a port, prints its connection string and ends on Ctrl-C', async () => {
  const project = join(import.meta.dirname, '../../..');
  const child = spawn(process.execPath, ['local/broker/main.ts', '--config', 'local/entities.json', '--port', '0'], {
    cwd: project,
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const [line] = await once(child.stdout, 'data');
  expect(String(line)).toMatch(/^Endpoint=sb:\/\/localhost:\d+;.*UseDevelopmentEmulator=true;\n$/);
  child.kill('SIGINT');
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test.each([
  [['--port', 'x'], /--port must be an integer from 0 to 65535, got x/],
  [['--tier', 'gold'], /--tier must be one of emulator, azure, premium, got gold/],
  [['--config', 'nowhere.json'], /nowhere\.json cannot be read \(ENOENT\)/],
])('refuses %j in one line', async (args, expected) => {
  const child = spawn(process.execPath, ['local/broker/main.ts', ...args], {
    cwd: join(import.meta.dirname, '../../..'),
  });
  let errors = '';
  child.stderr.on('data', (text) => {
    errors += text;
  });
  expect(await once(child, 'close')).toEqual([1, null]);
  expect(errors).toMatch(expected);
  expect(errors.trim().split('\n')).toHaveLength(1);
});
