import { expect, test, vi } from 'vitest';
import { useLightSignals } from './light-signals.ts';
import { shown } from './seeds.ts';

/** Nothing here waits; on a busy machine it takes its time all the same. */
vi.setConfig({ testTimeout: 120_000 });

test('the light signals change no step of any life', async () => {
  const seeds = Array.from({ length: 200 }, (_, n) => n + 1);
  const lives = async () => {
    const all: string[] = [];
    for (const seed of seeds) all.push(await shown(seed));
    return all;
  };
  const withPlatforms = await lives();
  const restore = useLightSignals();
  try {
    expect(await lives()).toEqual(withPlatforms);
  } finally {
    restore();
  }
});
