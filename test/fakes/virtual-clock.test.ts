import { expect, test } from 'vitest';
import { virtualClock } from './virtual-clock.ts';

const START_UTC = 1_767_603_600_000;

test('jumps to the end of the shortest sleep once everything waits, and so on', async () => {
  const clock = virtualClock(START_UTC);
  const woken: [string, number][] = [];
  const sleep = async (name: string, ...delays: number[]) => {
    for (const delay of delays) {
      await clock.sleep(delay);
      woken.push([name, clock.monotonicInMs()]);
    }
  };

  await Promise.all([sleep('a', 1_000, 5_000), sleep('b', 3_000), sleep('c', 3_000, 0)]);

  expect(woken).toEqual([
    ['a', 1_000],
    ['b', 3_000],
    ['c', 3_000],
    ['c', 3_000],
    ['a', 6_000],
  ]);
  expect(clock.nowUtc()).toBe(START_UTC + 6_000);
});

test('stands still while anything runs, however many promises that takes', async () => {
  const clock = virtualClock(START_UTC);
  const sleeping = clock.sleep(1_000);

  for (let n = 0; n < 10_000; n++) await Promise.resolve();

  expect(clock.monotonicInMs()).toBe(0);
  await sleeping;
  expect(clock.monotonicInMs()).toBe(1_000);
});

test('ends a sleep whose signal fires, at once, and forgets it', async () => {
  const clock = virtualClock(START_UTC);
  const controller = new AbortController();
  clock.at(1_000, () => controller.abort());

  await clock.sleep(5_000, controller.signal);
  await clock.sleep(5_000, controller.signal);

  expect(clock.monotonicInMs()).toBe(1_000);
  expect(clock.pending()).toBe(0);
});

test('moves on when it is told to, and lets happen what falls due on the way', async () => {
  const clock = virtualClock(START_UTC);
  const acted: number[] = [];
  clock.at(1_000, () => acted.push(clock.monotonicInMs()));

  await clock.advance(500);
  expect([clock.monotonicInMs(), acted]).toEqual([500, []]);
  await clock.advance(1_500);
  expect([clock.monotonicInMs(), acted]).toEqual([2_000, [1_000]]);
});

test.each([-1, Number.NaN])('refuses to sleep for %d ms', async (delayInMs) => {
  await expect(virtualClock(START_UTC).sleep(delayInMs)).rejects.toThrow(
    new RangeError(`expected a duration, got ${delayInMs}`),
  );
});
