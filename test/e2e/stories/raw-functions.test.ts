import { afterEach, expect, test, vi } from 'vitest';
import { aQueueStage, type QueueStage } from '../../local/host/queue-stage.ts';
import { AT_MOST } from '../support/stage.ts';

const LOCK_IN_MS = 1_000;

let stage: QueueStage;

afterEach(() => stage.stop());

// What a function without this consumer does to its messages, and why the consumer neither throws nor returns early.
// Field case D4.
test('who settles nothing loses nothing: back after the lock, back at once, or refused when it is too late', async () => {
  stage = await aQueueStage({ queue: { lockDurationInMs: LOCK_IN_MS, maxDeliveryCount: 4 } });
  const sentAtInMs = performance.now();
  await stage.send('returns', { 1: [], 2: [['complete']] });
  await stage.send('settles-later', { 1: [['later']], 2: [['complete']] });
  await stage.send('throws', [['throw']]);
  await stage.until('throws', { taken: 4 });
  const thrownOutAfterInMs = performance.now() - sentAtInMs;
  await stage.until('returns', { did: 'complete' });
  const returnedAfterInMs = performance.now() - sentAtInMs;
  await stage.until('settles-later', { did: 'complete' });
  await stage.quiet();

  const deliveries = (id: string) => stage.told(id).filter(({ taken }) => taken).length;
  const counts = { returns: deliveries('returns'), 'settles-later': deliveries('settles-later'), throws: 4 };
  console.info(`${JSON.stringify(counts)}, thrown out after ${Math.round(thrownOutAfterInMs)} ms`);
  expect(counts).toEqual({ returns: 2, 'settles-later': 2, throws: deliveries('throws') });
  for (const id of ['returns', 'settles-later']) {
    expect(stage.told(id).filter(({ did }) => did === 'complete')).toHaveLength(1);
  }
  expect(await stage.peek('q')).toEqual([]);
  expect(returnedAfterInMs).toBeGreaterThanOrEqual(LOCK_IN_MS);
  expect(stage.told('settles-later')).toContainEqual(
    expect.objectContaining({ later: 9, details: expect.stringMatching(/^LockToken .* not found\.$/) }),
  );
  await vi.waitFor(async () => {
    const letters = await stage.peek('q/$deadletterqueue');
    expect(letters.map(({ messageId, deadLetterReason }) => [messageId, deadLetterReason])).toEqual([
      ['throws', 'MaxDeliveryCountExceeded'],
    ]);
  }, AT_MOST);
});
