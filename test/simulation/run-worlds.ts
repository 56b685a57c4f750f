import type { Verdicts } from './verdicts.ts';
import type { World } from './world.ts';

/** Everything that waits for a promise has gone on. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * Lives side by side: they share nothing but the turns of the event loop, of which each step needs one. More would save
 * turns and cost more than that, as they no longer fit in the processor's cache.
 */
const ABREAST = 16;

/** Lets everything happen in a world that will. */
export async function play(world: World): Promise<void> {
  while (world.step()) await settled();
}

/** Lives one world to its end, and judges it. */
export async function live(world: World): Promise<Verdicts> {
  await play(world);
  return world.finish();
}

/**
 * Lives worlds to their ends, many at a time.
 *
 * @param next gives the next world, undefined where there is none; called only as often as there is room
 * @param ended what to do with each; returns whether to go on
 */
export async function liveAll(
  next: () => World | undefined,
  ended: (world: World, verdicts: Verdicts) => boolean,
): Promise<void> {
  let living: World[] = [];
  let isOver = false;
  const fill = () => {
    while (!isOver && living.length < ABREAST) {
      const world = next();
      if (world) living.push(world);
      else isOver = true;
    }
  };
  for (fill(); living.length > 0; fill()) {
    const left: World[] = [];
    for (const world of living) {
      if (world.step()) left.push(world);
      else if (!ended(world, world.finish())) isOver = true;
    }
    living = left;
    await settled();
  }
}
