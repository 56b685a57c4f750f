import { expect, test } from 'vitest';
import { aBusyInstance, deadReasons } from './crash-loop.ts';
import { live } from './run-worlds.ts';

const siblings = Array.from({ length: 15 }, (_, n) => `sibling-${n + 1}`);

test('finds the one among sixteen in flight that kills its process, and completes its fifteen siblings (G5)', async () => {
  const world = aBusyInstance([...siblings.slice(0, 7), 'killer', ...siblings.slice(7)], (eventId) =>
    eventId === 'killer' ? 'kills its process' : 'is slow',
  );

  expect((await live(world)).violations).toEqual([]);

  expect(deadReasons(world)).toEqual({ killer: 'PoisonMessage' });
  expect(siblings.filter((eventId) => world.effects.effectsOf(eventId) === 1)).toEqual(siblings);
});

test('does not take three deployments in the life of a message for a crash loop', async () => {
  const world = aBusyInstance(['order-1'], (_eventId, call) => (call <= 3 ? 'hangs until its signal' : 'succeeds'));
  for (const atInMs of [1_000, 40_000, 80_000]) {
    world.plan(atInMs, () => world.instances[0]?.stop());
  }

  expect((await live(world)).violations).toEqual([]);

  expect(deadReasons(world)).toEqual({});
  expect(world.effects.effectsOf('order-1')).toBe(1);
});

test('takes three crashes of one attempt for a crash loop, and no fewer', async () => {
  const crashing = (crashes: number) =>
    aBusyInstance(['order-1'], (_eventId, call) => (call <= crashes ? 'kills its process' : 'succeeds'));
  const [two, three] = [crashing(2), crashing(3)];

  await live(two);
  await live(three);

  expect([deadReasons(two), deadReasons(three)]).toEqual([{}, { 'order-1': 'PoisonMessage' }]);
});
