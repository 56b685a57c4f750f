import { afterEach, expect, test } from 'vitest';
import { aQueueStage, type QueueStage } from './queue-stage.ts';

let stage: QueueStage;

afterEach(() => stage.stop());

const message = (messageId: string, step: string) => ({ messageId, body: Buffer.from(JSON.stringify(step)) });

async function begin(options: Parameters<typeof aQueueStage>[0]): Promise<void> {
  stage = await aQueueStage({ app: 'batch', ...options });
}

const batches = () => stage.told().flatMap(({ taken }) => (taken ? [taken] : []));

test('a batch holds up to maxMessageBatchSize messages, each settled on its own [S6]', async () => {
  await begin({
    waiting: [message('a', 'complete'), message('b', 'deadLetter'), message('c', 'complete'), message('d', 'complete')],
  });

  await stage.quiet();

  expect(batches()).toEqual([['a/1', 'b/1', 'c/1'], ['d/1']]);
  expect((await stage.peek('q/$DeadLetterQueue')).map(({ messageId }) => messageId)).toEqual(['b']);
});

test('a batch that throws gives back at once what it has not settled [A5]', async () => {
  await begin({ waiting: [message('a', 'complete'), message('b', 'throw'), message('c', 'nothing')] });

  // The lock holds for a minute: only an abandon brings the messages back within the test.
  await stage.quiet();

  expect(batches()).toEqual([
    ['a/1', 'b/1', 'c/1'],
    ['b/2', 'c/2'],
  ]);
});

test('a batch that returns leaves what it has not settled to its lock', async () => {
  await begin({ queue: { lockDurationInMs: 1_000 }, waiting: [message('a', 'complete'), message('b', 'nothing')] });
  const startedAtMs = performance.now();

  await stage.quiet();

  expect(batches()).toEqual([['a/1', 'b/1'], ['b/2']]);
  expect(performance.now() - startedAtMs).toBeGreaterThan(500);
});

test('a batch that returns with autoCompleteMessages true is completed', async () => {
  await begin({
    settings: { AzureFunctionsJobHost__extensions__serviceBus__autoCompleteMessages: 'true' },
    waiting: [message('a', 'nothing'), message('b', 'nothing')],
  });

  await stage.quiet();

  expect(batches()).toEqual([['a/1', 'b/1']]);
});

test('no lock is renewed in a batch [L2]', async () => {
  await begin({ queue: { lockDurationInMs: 1_000 }, waiting: [message('a', 'pause 1500'), message('b', 'complete')] });

  await expect
    .poll(() => stage.told().filter(({ failed }) => failed), { timeout: 10_000 })
    .toEqual(['a', 'b'].map((failed) => ({ failed, details: expect.stringContaining('(MessageLockLost)') })));
});

test('a batch waits for minMessageBatchSize messages, but no longer than maxBatchWaitTime', async () => {
  await begin({
    settings: {
      AzureFunctionsJobHost__extensions__serviceBus__minMessageBatchSize: '3',
      AzureFunctionsJobHost__extensions__serviceBus__maxBatchWaitTime: '00:00:03',
    },
  });

  for (const id of ['a', 'b', 'c']) await stage.send(id, 'complete');
  await stage.quiet();
  const sentAtMs = performance.now();
  await stage.send('alone', 'complete');
  await stage.quiet();

  expect(performance.now() - sentAtMs).toBeGreaterThanOrEqual(2_900);
  expect(batches()).toEqual([['a/1', 'b/1', 'c/1'], ['alone/1']]);
});

test('the metadata of a batch come as arrays', async () => {
  await begin({ waiting: [message('a', 'complete')] });

  await stage.quiet();

  expect(stage.told().find(({ metadata }) => metadata)?.['metadata']).toEqual(
    expect.arrayContaining([
      'messageIdArray',
      'deliveryCountArray',
      'lockTokenArray',
      'sequenceNumberArray',
      'applicationPropertiesArray',
    ]),
  );
});

test('a stop while the host waits for messages takes none with it', async () => {
  await begin({});

  await stage.host.stop();
  await stage.send('later', 'complete');

  expect((await stage.peek()).map(({ messageId, deliveryCount }) => [messageId, deliveryCount])).toEqual([
    ['later', 0],
  ]);
});
