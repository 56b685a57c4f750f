import { afterEach, describe, expect, test } from 'vitest';
import { aQueueStage, type QueueStage } from './queue-stage.ts';

let stage: QueueStage;

afterEach(() => stage.stop());

async function begin(options?: Parameters<typeof aQueueStage>[0]): Promise<void> {
  stage = await aQueueStage(options);
}

const serviceBus = (values: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [`AzureFunctionsJobHost__extensions__serviceBus__${name}`, value]),
  );

const takenIds = () => stage.told().flatMap(({ id, taken }) => (taken ? [id] : []));

describe('concurrency', () => {
  test('is maxConcurrentCalls: the next message waits for a free call, and a slow one holds nobody else up', async () => {
    await begin({ settings: serviceBus({ maxConcurrentCalls: '2' }) });

    await stage.send('slow', [['wait', 'end'], ['complete']]);
    await stage.until('slow', { taken: 1 });
    for (const id of ['a', 'b']) await stage.send(id, [['complete']]);
    await stage.send('last', [['open', 'end'], ['complete']]);
    await stage.quiet();

    // One call is taken by the slow one, so the others go one after the other through the second.
    expect(
      stage
        .told()
        .filter(({ did }) => did === 'complete')
        .map(({ id }) => id)
        .slice(0, 2),
    ).toEqual(['a', 'b']);
    expect(takenIds()).toEqual(['slow', 'a', 'b', 'last']);
  });

  test('of 1 leaves what it does not take in the queue, without a lock', async () => {
    await begin({ settings: serviceBus({ maxConcurrentCalls: '1' }), queue: { lockDurationInMs: 1_000 } });

    await stage.send('first', [['pause', 1_500], ['complete']]);
    await stage.send('second', [['complete']]);
    await stage.quiet();

    expect(stage.told()).toEqual([
      { id: 'first', taken: 1 },
      { id: 'first', did: 'pause' },
      { id: 'first', did: 'complete' },
      { id: 'second', taken: 1 },
      { id: 'second', did: 'complete' },
    ]);
  });

  test('with prefetch takes more, whose locks run out while they wait [L3]', async () => {
    await begin({
      settings: serviceBus({ maxConcurrentCalls: '1', prefetchCount: '1' }),
      queue: { lockDurationInMs: 1_000 },
    });

    await stage.send('first', [['pause', 1_500], ['complete']]);
    await stage.send('second', [['complete']]);
    await stage.until('second', { failed: 'complete' });
    await stage.quiet();

    expect(stage.told('second')).toEqual([
      { id: 'second', taken: 1 },
      { id: 'second', failed: 'complete', code: 2, details: expect.stringContaining('(MessageLockLost)') },
      { id: 'second', taken: 2 },
      { id: 'second', did: 'complete' },
    ]);
  });
});

describe('the worker process', () => {
  test('is killed by a function timeout, with everything else that runs on it [T1]', async () => {
    await begin({ settings: { AzureFunctionsJobHost__functionTimeout: '00:00:01' } });

    await stage.send('hanging', { 1: [['hang']], 2: [['complete']] });
    await stage.until('hanging', { taken: 1 });
    await stage.send('neighbour', { 1: [['hang']], 2: [['complete']] });
    await stage.until('neighbour', { did: 'complete' });
    await stage.quiet();

    expect(takenIds().sort()).toEqual(['hanging', 'hanging', 'neighbour', 'neighbour']);
    const timeouts = stage.log.entries.filter(({ message }) => message.startsWith('Timeout value of 1 s exceeded'));
    expect(timeouts.map(({ functionName, level }) => [functionName, level])).toContainEqual(['take', 'error']);
  });

  test('is started again after a crash, and its messages come back at once [W8]', async () => {
    await begin();

    await stage.send('deadly', { 1: [['crash']] });
    await stage.quiet();

    expect(stage.told()).toEqual([
      { id: 'deadly', taken: 1 },
      { id: 'deadly', taken: 2 },
      { id: 'deadly', did: 'complete' },
    ]);
    expect(stage.log.messages()).toContain('The worker process ended (SIGKILL). It is started again in 100 ms.');
  });
});

describe('stop', () => {
  test('lets what runs end, and takes nothing more [W8]', async () => {
    await begin({ settings: serviceBus({ maxConcurrentCalls: '1' }) });
    await stage.send('running', [['pause', 500], ['complete']]);
    await stage.until('running', { taken: 1 });
    await stage.send('waiting', [['complete']]);

    await stage.host.stop();

    expect(stage.told()).toEqual([
      { id: 'running', taken: 1 },
      { id: 'running', did: 'pause' },
      { id: 'running', did: 'complete' },
    ]);
    expect((await stage.peek()).map(({ messageId, deliveryCount }) => [messageId, deliveryCount])).toEqual([
      ['waiting', 0],
    ]);
  });

  test('abandons what has arrived and not begun [T2]', async () => {
    await begin({ settings: serviceBus({ maxConcurrentCalls: '1', prefetchCount: '1' }) });
    await stage.send('running', [['pause', 500], ['complete']]);
    await stage.until('running', { taken: 1 });
    await stage.send('prefetched', [['complete']]);
    await expect.poll(() => stage.broker.namespace.queue('q').peek(2, 1)).toMatchObject([{ state: 'locked' }]);

    await stage.host.stop();

    expect(stage.told('prefetched')).toEqual([]);
    expect((await stage.peek()).map(({ messageId, deliveryCount }) => [messageId, deliveryCount])).toEqual([
      ['prefetched', 1],
    ]);
  });

  test('abandons what does not end within the limit', async () => {
    await begin({ drainLimitInMs: 100 });
    await stage.send('hanging', [['hang']]);
    await stage.until('hanging', { taken: 1 });

    await stage.host.stop();

    // The lock would hold for a minute.
    expect(stage.broker.namespace.queue('q').receive()).toMatchObject({ message: { sequenceNumber: 1 } });
  });
});

test('a broker that goes away and comes back is found again', async () => {
  await begin();
  await stage.send('before', [['complete']]);
  await stage.quiet();

  await stage.replaceBroker();
  const sent = () =>
    stage.send('after', [['complete']]).then(
      () => true,
      () => false,
    );
  await expect.poll(sent, { timeout: 15_000 }).toBe(true);

  await stage.until('after', { did: 'complete' });
});

test('what came over a connection that is gone since is settled over the next one, while its lock holds [S9]', async () => {
  await begin();
  await stage.send('m', [['pause', 1_000], ['complete']]);
  await stage.until('m', { taken: 1 });

  stage.broker.dropConnections();
  await stage.quiet();

  expect(stage.told('m')).toEqual([
    { id: 'm', taken: 1 },
    { id: 'm', did: 'pause' },
    { id: 'm', did: 'complete' },
  ]);
});
