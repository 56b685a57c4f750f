import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { useLightSignals } from './light-signals.ts';
import { type OutagePlan, OutageScene } from './outage.ts';
import { play } from './run-worlds.ts';

/** Nothing here waits; on a busy machine it takes its time all the same. */
vi.setConfig({ testTimeout: 120_000 });

let restore: () => void;
beforeAll(() => {
  restore = useLightSignals();
});
afterAll(() => restore());

/** At 200 messages a second it is `npm run simulate -- --outage both`. */
const anHour = { lengthInMs: 3_600_000, messagesPerSecond: 3, failing: 0.2 };

describe.each<OutagePlan['target']>(['store', 'send'])('an hour without the %s', (target) => {
  test('loses and dead-letters nothing, brakes the intake and is over within a minute of its end (L7, N1)', async () => {
    const scene = new OutageScene({ ...anHour, target });
    await play(scene.world);
    const { brokerOperationsPerSecond, recoveredInMs, ...rest } = scene.report();

    expect(rest).toEqual({
      events: 10_860,
      completed: 10_860,
      deadLetters: 0,
      handlerRunsPerEvent: 1.2,
      violations: [],
    });
    expect(brokerOperationsPerSecond).toBeLessThan(anHour.messagesPerSecond);
    expect(recoveredInMs).toBeLessThan(60_000);
  });
});
