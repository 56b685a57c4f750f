import { describe, expect, test, vi } from 'vitest';
import { CRASHES } from './crash-baseline.ts';
import { liveThrough, SCRIPTS, tryEveryCrash } from './crash-points.ts';

/** Nothing here waits; on a busy machine it takes its time all the same. */
vi.setConfig({ testTimeout: 120_000 });

describe('a message that', () => {
  test.each(SCRIPTS)('$name survives every crash and every pair of crashes', async (script) => {
    const { points, pairs, failure } = await tryEveryCrash(script);

    if (failure) {
      const { violations, trace } = await liveThrough(script, failure.points, { isTraced: true });
      expect.fail([JSON.stringify(failure.points), JSON.stringify(violations), ...trace].join('\n'));
    }
    const least = CRASHES[script.name] ?? { points: 0, pairs: 0 };
    expect(points, 'points tried').toBeGreaterThanOrEqual(least.points);
    expect(pairs, 'pairs tried').toBeGreaterThanOrEqual(least.pairs);
  });
});

test('every script has a number of crashes that must not fall', () => {
  expect(Object.keys(CRASHES)).toEqual(SCRIPTS.map(({ name }) => name));
});
