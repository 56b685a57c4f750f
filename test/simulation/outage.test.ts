import { describe, expect, test, vi } from 'vitest';
import { type OutagePlan, OutageScene } from './outage.ts';
import { play } from './run-worlds.ts';

/** Nothing here waits; on a busy machine it takes its time all the same. */
vi.setConfig({ testTimeout: 120_000 });

/** The hour at 200 messages a second is `npm run simulate -- --outages`; this is the same in small. */
const small = { lengthInMs: 5 * 60_000, messagesPerSecond: 10, failing: 0.2 };

describe.each<OutagePlan['target']>(['store', 'send'])('an outage of the %s', (target) => {
  test('loses and dead-letters nothing, brakes the intake and is over within a minute of its end (L7, N1)', async () => {
    const scene = new OutageScene({ ...small, target });
    await play(scene.world);
    const { brokerOperationsPerSecond, recoveredInMs, ...rest } = scene.report();

    expect(rest).toEqual({ events: 3_200, completed: 3_200, deadLetters: 0, handlerRunsPerEvent: 1.2, violations: [] });
    expect(brokerOperationsPerSecond).toBeLessThan(small.messagesPerSecond);
    expect(recoveredInMs).toBeLessThan(60_000);
  });
});
