import { expect, test, vi } from 'vitest';
import { MISTAKES } from './mistakes.ts';
import { liveSeeds } from './seeds.ts';
import type { Invariant } from './verdicts.ts';

/** Nothing here waits; on a busy machine it takes its time all the same. */
vi.setConfig({ testTimeout: 120_000 });

/** The harm that each known mistake does. */
const HARM = {
  'complete before schedule': 'lost',
  'random copy id': 'fork',
  'update without ETag': 'effect recorded twice',
  'completed before the effect': 'completed without its effect',
  'abandon on store failure': 'hot loop',
  'one-phase dead-lettering': 'lost',
  'replay copies without the generation': 'lost',
  'deferrals that forget their origin': 'lost',
} as const satisfies Record<keyof typeof MISTAKES, Invariant>;

test.each(Object.entries(HARM))('finds within 1,000 seeds: %s', async (name, harm) => {
  const mistake = MISTAKES[name as keyof typeof MISTAKES];
  const { found } = await liveSeeds({ from: 1, count: 1_000, mistake, until: harm });

  expect(found.some(({ violations }) => violations.some(({ invariant }) => invariant === harm))).toBe(true);
});
