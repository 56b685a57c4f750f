import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { anAdmin, anAdminClient } from './an-admin.ts';

function aProcess(args: readonly string[]) {
  const child = spawn(process.execPath, ['local/broker/main.ts', '--port', '0', ...args], {
    cwd: join(import.meta.dirname, '../../../..'),
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const output = { text: '' };
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      output.text += text;
    });
  }
  return { child, output };
}

test('serves the management API beside the broker, under the limits of its tier, and ends with it', async () => {
  const { child, output } = aProcess(['--admin-port', '0', '--tier', 'emulator']);
  while (!/^management: .*\n/m.test(output.text)) await once(child.stdout, 'data');
  const port = Number(/^management: http:\/\/127\.0\.0\.1:(\d+)$/m.exec(output.text)?.[1]);
  const queue = await anAdminClient(port).createQueue('q');
  expect(queue.defaultMessageTimeToLive).toBe('PT1H');
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test('serves no management API that nobody asked for', async () => {
  const { child, output } = aProcess([]);
  await once(child.stdout, 'data');
  child.kill('SIGINT');
  await once(child, 'close');
  expect(output.text).toMatch(/^Endpoint=.*\n$/);
});

test('ends in one line when the port of the management API is taken', async () => {
  const { port } = await anAdmin();
  const { child, output } = aProcess(['--admin-port', String(port)]);
  expect(await once(child, 'close')).toEqual([1, null]);
  expect(output.text).toBe(
    `broker: The management API cannot listen on 127.0.0.1:${port}: the port is taken. What to do: stop what listens there, or choose another port.\n`,
  );
});

test('ends in one line when the certificate cannot be written', async () => {
  const { child, output } = aProcess(['--admin-port', '0', '--admin-certificate', 'nowhere/ca.crt']);
  expect(await once(child, 'close')).toEqual([1, null]);
  expect(output.text).toMatch(/^broker: ENOENT: .*nowhere\/ca\.crt'\n$/);
});

test('refuses a port that is none', async () => {
  const { child, output } = aProcess(['--admin-port', 'x']);
  expect(await once(child, 'close')).toEqual([1, null]);
  expect(output.text).toMatch(/^broker: --admin-port must be an integer from 0 to 65535, got x\. Usage: /);
});
