import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageApp } from '../../infra/package.ts';
import { FAST_POLICY } from '../e2e/support/orders.ts';
import { aStage, type Stage } from '../e2e/support/stage.ts';
import { aTemporaryFolder, removeFolder } from '../helpers/temporary-folder.ts';
import { project } from './support/built.ts';

const SLOW = 120_000;
const QUEUE = 'billing-order-placed';

let app: string;
let stage: Stage;
beforeAll(async () => {
  app = await aTemporaryFolder('smoke');
  await packageApp(project, app);
  await mkdir(join(app, 'local'));
  for (const file of ['local/entities.json', 'local.settings.json']) await cp(join(project, file), join(app, file));
  stage = await aStage(app, FAST_POLICY);
}, SLOW);
afterAll(async () => {
  await stage?.stop();
  await removeFolder(app);
}, SLOW);

/** `npm run smoke`, as a process of its own. */
async function smoke(...options: string[]): Promise<{ exitCode: number; out: string; err: string }> {
  const child = spawn(process.execPath, [join(project, 'infra/smoke.ts'), ...options], {
    env: { ...process.env, SERVICEBUS_CONNECTION_STRING: stage.broker.connectionString },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [[exitCode], out, err] = await Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)]);
  return {
    exitCode,
    out: out.replaceAll(/smoke-[0-9a-f-]{36}/g, 'smoke'),
    err: err.replaceAll(/smoke-[0-9a-f-]{36}/g, 'smoke'),
  };
}

describe('npm run smoke', () => {
  it.each([
    { args: [], says: ['--queue: expected the name of a queue, got none'] },
    {
      args: ['--queue', QUEUE, '--timeout', 'soon'],
      says: ['--timeout: expected seconds above 0, at most 86400, got "soon"'],
    },
    { args: ['--queue', QUEUE, '--body', 'nowhere.json'], says: ['--body: cannot read nowhere.json (ENOENT)'] },
    { args: ['--bogus'], says: ["Unknown option '--bogus'"] },
  ])('says how to call it, after: $says.0', { timeout: SLOW }, async ({ args, says }) => {
    const { exitCode, out, err } = await smoke(...args);
    const [problems = '', usage] = err.split('\n\n');
    expect({ exitCode, out, problems: problems.split('\n') }).toEqual({ exitCode: 2, out: '', problems: says });
    expect(usage).toBe('npm run smoke -- --namespace NAME --queue NAME [--body FILE] [--timeout SECONDS]');
  });

  it('says in one line that a queue is not there', { timeout: SLOW }, async () => {
    const { exitCode, out, err } = await smoke('--queue', 'no-such-queue');
    expect({ exitCode, out, lines: err.trim().split('\n').length }).toEqual({ exitCode: 1, out: '', lines: 1 });
    expect(err).toContain('no-such-queue');
  });

  it('fails where no app takes the events, and says so', { timeout: SLOW }, async () => {
    expect(await smoke('--queue', QUEUE, '--timeout', '1')).toEqual({
      exitCode: 1,
      out: `sent smoke-good and smoke-bad to ${QUEUE}\n`,
      err:
        'smoke-good is still in the queue: does the app run, and is it this queue that it consumes?\n' +
        'smoke-bad is still in the queue: does the app run, and is it this queue that it consumes?\n',
    });
  });

  it('sees both events end as they must, and leaves the dead letters of others alone', { timeout: SLOW }, async () => {
    await stage.startHost();
    await stage.send({ messageId: 'not-ours', bodyBase64: Buffer.from('{').toString('base64') });
    await stage.until('not-ours', 'dead-lettered');

    const { exitCode, out, err } = await smoke('--queue', QUEUE, '--timeout', '60');

    expect(err).toBe('');
    expect(exitCode).toBe(0);
    expect(out.split('\n').sort()).toEqual(
      [
        '',
        `sent smoke-good and smoke-bad to ${QUEUE}`,
        'smoke-good: done, the queue has it no more',
        'smoke-bad: dead-lettered, MalformedBody',
        'removed from the dead-letter queue',
        'all is well',
      ].sort(),
    );
    const left = (await stage.deadLetters()).map(({ messageId }) => messageId);
    expect(left).toContain('not-ours');
    // That of the run before, which nobody took.
    expect(left.filter((messageId) => messageId.startsWith('smoke-'))).toHaveLength(1);
  });
});
