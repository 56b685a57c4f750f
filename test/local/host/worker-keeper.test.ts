import { afterEach, expect, test } from 'vitest';
import { restartDelayInMs, WorkerKeeper } from '../../../local/host/worker-keeper.ts';
import type { InvocationOutcome } from '../../../local/host/worker-protocol.ts';
import { aLog, aRequest, fixtureApp, isRunning } from './support.ts';

const log = aLog();
let keeper: WorkerKeeper;

afterEach(async () => {
  await keeper.stop(5_000);
  log.entries.length = 0;
});

async function start(): Promise<void> {
  keeper = await WorkerKeeper.start({ appDirectory: fixtureApp('crashing'), settings: {}, port: 7, onLog: log.onLog });
}

function pidOf(outcome: InvocationOutcome): number {
  return outcome.kind === 'succeeded' ? Number(outcome.response.returnValue?.int) : Number.NaN;
}

test('starts a worker that has crashed again, and invocations wait for it', async () => {
  await start();
  const first = pidOf(await keeper.invoke(aRequest('pid')));

  const crashed = await keeper.invoke(aRequest('exit'));
  const second = pidOf(await keeper.invoke(aRequest('pid')));

  expect(crashed).toMatchObject({ kind: 'failed', error: { message: 'The worker process ended (exit code 3).' } });
  expect(second).not.toBe(first);
  expect(isRunning(first)).toBe(false);
  expect(log.messages()).toContain('The worker process ended (exit code 3). It is started again in 100 ms.');
});

test('fails the neighbours of what is killed, and only those', async () => {
  await start();
  const neighbour = keeper.invoke(aRequest('hang'));

  const killed = await keeper.invoke(aRequest('hang'), (kill) => kill('Too slow.'));

  expect(killed).toMatchObject({ kind: 'failed', error: { message: 'Too slow.' } });
  expect(await neighbour).toMatchObject({ kind: 'failed', error: { message: 'Too slow.' } });
  expect(pidOf(await keeper.invoke(aRequest('pid')))).toBeGreaterThan(0);
});

test('gives nothing to a worker that has been killed', async () => {
  await start();
  let next: Promise<InvocationOutcome> | undefined;

  await keeper.invoke(aRequest('hang'), (kill) => {
    kill('Too slow.');
    next = keeper.invoke(aRequest('pid'));
  });

  expect((await next)?.kind).toBe('succeeded');
});

test('fails what waits for a worker when it is told to stop', async () => {
  await start();
  await keeper.invoke(aRequest('exit'));
  const waiting = keeper.invoke(aRequest('pid'));

  await keeper.stop(5_000);

  expect(await waiting).toMatchObject({ kind: 'failed', error: { message: 'The host is stopping.' } });
});

test('waits longer after each end in a row, up to a limit', () => {
  expect([1, 2, 3, 6, 7, 50].map(restartDelayInMs)).toEqual([100, 200, 400, 3200, 5000, 5000]);
});
