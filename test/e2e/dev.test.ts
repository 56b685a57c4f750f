import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceBusClient } from '@azure/service-bus';
import { expect, test, vi } from 'vitest';
import { build, compile } from '../../local/build.ts';
import type { ProviderAnswer } from '../../local/provider/payment-provider.ts';
import { Changes, reloadOnChange } from '../../local/reload.ts';
import { BUILT_IN_QUEUE as QUEUE } from '../../local/scenario/built-in.ts';
import { ReportCollector } from '../../local/scenario/run-scenario.ts';
import { startStack } from '../../local/stack.ts';
import { type FoundProcess, processesOf } from '../helpers/processes.ts';
import { inCopy, run } from './support/command.ts';
import { FAST_POLICY } from './support/orders.ts';
import { AT_MOST } from './support/stage.ts';

const eventually = (condition: () => void | Promise<void>) => vi.waitFor(condition, AT_MOST);

const anOrder = (messageId: string) => ({
  messageId,
  body: { orderId: messageId, amount: 25, currency: 'EUR' },
  contentType: 'application/json',
});

/** What is left to its lock comes back soon. */
async function withShortLocks(file: string): Promise<void> {
  await writeFile(file, (await readFile(file, 'utf8')).replace('"PT1M"', '"PT5S"'));
}

const isWorker = ({ command }: FoundProcess) => /host\/worker\.ts /.test(command);

/** The lines that tell what became of a change. */
const VERDICT = /^(?:rebuilt and restarted|not restarted|stopped)/;

// What each of the two cleans up goes by its own context: they run at the same time.
test.concurrent('a save during an outage of the provider loses no copy, releases what runs and repeats no effect', async ({
  onTestFinished,
}) => {
  await inCopy(async (folder) => {
    await withShortLocks(join(folder, 'local', 'entities.json'));
    await build(folder);
    let answerOf = (_orderId: string): ProviderAnswer => 503;
    const collector = new ReportCollector(() => undefined);
    const stack = await startStack({
      project: folder,
      settings: {
        ...FAST_POLICY,
        RETRY__ORDER_PLACED__BASE_DELAY_IN_MS: '3000',
        RETRY__ORDER_PLACED__ATTEMPTS: '20',
        RETRY__ORDER_PLACED__HANDLER_TIMEOUT_IN_MS: '60000',
      },
      script: (_key, { orderId }) => [answerOf(orderId)],
      drainLimitInMs: 100,
      onLog: collector.onLog,
    });
    onTestFinished(() => stack.stop());
    const client = new ServiceBusClient(stack.broker.connectionString);
    onTestFinished(() => client.close());
    const reports = () => collector.reports.map(({ report }) => report);
    const outcomes = (eventId: string) => reports().flatMap((each) => (each.eventId === eventId ? [each.outcome] : []));
    const calls = (orderId: string) => stack.provider.calls.filter(({ charge }) => charge.orderId === orderId);
    const said: string[] = [];
    const stopping = new AbortController();
    const reloading = reloadOnChange(
      {
        changes: new Changes(join(folder, 'functions'), (line) => said.push(line)),
        compile: (signal) => compile(folder, signal),
        stack,
        say: (line) => said.push(line),
      },
      stopping.signal,
    );

    // Of each kind some: their copies wait; they run, and hear nothing from the provider; their copies are being sent.
    const waiting = ['waiting-1', 'waiting-2', 'waiting-3'];
    const running = ['running-1', 'running-2'];
    const sending = ['sending-1', 'sending-2'];
    answerOf = (orderId) => (running.includes(orderId) ? 'timeout' : 503);
    const sender = client.createSender(QUEUE);
    await sender.sendMessages([...waiting, ...running].map(anOrder));
    for (const id of waiting) await eventually(() => expect(outcomes(id)).toContain('redelivered'));
    for (const id of running) await eventually(() => expect(calls(id)).toHaveLength(1));
    await sender.scheduleMessages(sending.map(anOrder), new Date(Date.now() + 500));
    stack.broker.faults.refuseSends('ServerBusy', Number.POSITIVE_INFINITY);
    for (const id of sending) await eventually(() => expect(calls(id)).toHaveLength(1));

    await appendFile(join(folder, 'functions', 'order-placed.ts'), '// saved\n');
    await eventually(() => expect(said).toEqual(['rebuilt and restarted']));
    answerOf = () => 200;
    stack.broker.faults.clear();

    const queue = stack.broker.namespace.queue(QUEUE);
    await eventually(() => expect(queue.counts()).toMatchObject({ active: 0, scheduled: 0, deferred: 0 }));
    stopping.abort();
    await reloading;
    await stack.host.stop();
    const events = [...waiting, ...running, ...sending];
    console.info(
      `a save during an outage: ${JSON.stringify(Object.fromEntries(events.map((id) => [id, outcomes(id)])))}`,
    );
    expect(queue.counts()).toMatchObject({ deadLetter: 0, transferDeadLetter: 0 });
    const charged = stack.provider.charges.map(({ orderId, count }) => [orderId, count]);
    expect(charged.sort()).toEqual(events.map((id) => [id, 1]).sort());
    for (const id of events)
      expect([id, outcomes(id).filter((each) => each === 'succeeded')]).toEqual([id, ['succeeded']]);
    for (const id of running) expect(outcomes(id)[0]).toBe('released');
    expect(said).toEqual(['rebuilt and restarted']);
  });
});

test.concurrent('npm run dev: many saves are one restart, what does not compile leaves the app running, Ctrl-C ends it all', async ({
  onTestFinished,
}) => {
  await inCopy(async (folder) => {
    const command = run(folder, ['npm', 'run', '--silent', 'dev', '--', '--free-ports']);
    await eventually(() => expect(command.stdout()).toContain('Ctrl-C stops it all'));
    expect(command.stdout()).toMatch(
      /^telemetry +this log alone; .*OTEL_EXPORTER_OTLP_ENDPOINT=http:\/\/localhost:4318/m,
    );
    const [connectionString = ''] = /Endpoint=\S+/.exec(command.stdout()) ?? [];
    const client = new ServiceBusClient(connectionString);
    onTestFinished(() => client.close());
    const sender = client.createSender(QUEUE);
    const verdicts = () =>
      command
        .stdout()
        .split('\n')
        .filter((line) => VERDICT.test(line));
    const isDone = (id: string) => () =>
      expect(command.stdout()).toMatch(new RegExp(`"eventId":"${id}",.*"outcome":"succeeded"`));

    for (let n = 0; n < 20; n += 1) await appendFile(join(folder, 'functions', 'order-placed.ts'), `// ${n}\n`);
    await eventually(() => expect(verdicts()).toEqual(['rebuilt and restarted']));
    await writeFile(join(folder, 'functions', 'half-written.ts'), 'export const half = {');
    await eventually(() => expect(verdicts()).toHaveLength(2));
    // A worker that crashes now is started again from the old build, which must still be there.
    for (const { pid } of processesOf(folder).filter(isWorker)) process.kill(pid, 'SIGKILL');
    await sender.sendMessages(anOrder('in-between'));
    await eventually(isDone('in-between'));

    expect(verdicts()).toEqual([
      'rebuilt and restarted',
      'not restarted, the app runs on as it was. The build failed: see the messages of the TypeScript compiler above.',
    ]);
    expect(command.stderr()).toMatch(/half-written\.ts\(1,22\): error TS\d+: /);
    process.kill(-(command.child.pid as number), 'SIGINT');
    await command.ended;
  });
});
