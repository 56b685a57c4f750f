import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { fixtureApp, isRunning } from './support.ts';

let host: ChildProcess;
let output: string;

afterEach(() => {
  host.kill('SIGKILL');
});

function start(app: string, environment: Record<string, string> = {}): void {
  const program = fileURLToPath(new URL('../../../local/host/main.ts', import.meta.url));
  output = '';
  host = spawn(process.execPath, [program, '--app', fixtureApp(app)], {
    env: { ...process.env, ...environment },
    detached: true,
  });
  for (const stream of [host.stdout, host.stderr]) stream?.on('data', (text) => (output += text));
}

async function workerPid(): Promise<number> {
  await expect.poll(() => output, { timeout: 10_000 }).toContain('Host started with idle.');
  return Number(/worker (\d+)/.exec(output)?.[1]);
}

describe('the host as a program', () => {
  test('takes settings from the file, and from the environment over it', async () => {
    start('telling', { GREETING: 'from the environment' });

    await workerPid();

    expect(output).toContain('from the environment');
  });

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'drains on %s, runs the appTerminate hooks and leaves nothing',
    async (signal) => {
      start('telling');
      const pid = await workerPid();

      // To the whole group, as a terminal does with Ctrl-C: the worker must not die of it before it has been drained.
      process.kill(-(host.pid ?? 0), signal);
      const [code] = await once(host, 'close');

      expect([code, isRunning(pid)]).toEqual([0, false]);
      expect(output).toContain('terminated');
    },
  );

  test('takes its worker with it when it is killed', async () => {
    start('telling');
    const pid = await workerPid();

    host.kill('SIGKILL');

    await expect.poll(() => isRunning(pid), { timeout: 10_000 }).toBe(false);
  });

  test('says in one line why it does not start', async () => {
    start('commonjs');

    const [code] = await once(host, 'close');

    expect(code).toBe(1);
    expect(output).toMatch(
      /^host: Cannot read .*local\.settings\.json \(ENOENT\)\. Expected a local\.settings\.json\.\nUsage: /,
    );
  });
});
