import { expect, test, vi } from 'vitest';
import { liveSeeds, shown } from './seeds.ts';

/** Nothing here waits; on a busy machine it takes its time all the same. */
vi.setConfig({ testTimeout: 120_000 });

test('a thousand random lives keep every promise', async () => {
  const { lives, found } = await liveSeeds({ from: 1, count: 1_000 });

  const [first] = found;
  if (first) expect.fail(await shown(first.seed));
  expect(lives).toBe(1_000);
});

test('a seed lives the same life twice', async () => {
  expect(await shown(7)).toBe(await shown(7));
});
