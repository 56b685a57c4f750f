import type { Mistake } from './mistakes.ts';
import { randomLife } from './random-life.ts';
import { live, liveAll } from './run-worlds.ts';
import type { Invariant, Violation } from './verdicts.ts';
import type { World } from './world.ts';

export interface Found {
  readonly seed: number;
  readonly violations: readonly Violation[];
}

export interface SeedsLived {
  readonly lives: number;
  readonly deliveries: number;
  readonly found: readonly Found[];
}

/** Lives the lives of a row of seeds. @param until the violation to stop at; none where all shall be lived */
export async function liveSeeds({
  from,
  count,
  mistake,
  until,
}: {
  readonly from: number;
  readonly count: number;
  readonly mistake?: Mistake;
  readonly until?: Invariant;
}): Promise<SeedsLived> {
  const seeds = new Map<World, number>();
  const found: Found[] = [];
  let seed = from;
  let lives = 0;
  let deliveries = 0;
  await liveAll(
    () => {
      if (seed >= from + count) return undefined;
      const world = randomLife(seed, { mistake });
      seeds.set(world, seed++);
      return world;
    },
    (world, { violations }) => {
      lives++;
      deliveries += world.messages.deliveries;
      if (violations.length > 0) found.push({ seed: seeds.get(world) ?? 0, violations });
      seeds.delete(world);
      return !violations.some(({ invariant }) => invariant === until);
    },
  );
  return { lives, deliveries, found };
}

/** The life of a seed, to be read. */
export async function shown(seed: number, mistake?: Mistake): Promise<string> {
  const { trace } = await live(randomLife(seed, { isTraced: true, mistake }));
  return [`seed ${seed}`, ...trace].join('\n');
}
