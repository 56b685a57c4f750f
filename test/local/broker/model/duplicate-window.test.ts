import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DuplicateWindow } from '../../../../local/broker/model/duplicate-window.ts';

const WINDOW_IN_MS = 60_000;

test('knows an id for exactly as long as its window is, whatever came in between and however the window changed', () => {
  const step = fc.oneof(
    {
      weight: 9,
      arbitrary: fc.record({ kind: fc.constant('send' as const), id: fc.nat(5), passInMs: fc.nat(20_000) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('resize' as const), windowInMs: fc.nat(120_000) }) },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200, size: 'max' }), (steps) => {
      const window = new DuplicateWindow(WINDOW_IN_MS);
      const endsUtc = new Map<number, number>();
      let [nowUtc, windowInMs] = [0, WINDOW_IN_MS];
      for (const one of steps) {
        if (one.kind === 'resize') {
          windowInMs = one.windowInMs;
          window.resize(windowInMs);
          continue;
        }
        nowUtc += one.passInMs;
        const isKnown = (endsUtc.get(one.id) ?? -1) > nowUtc;
        expect(window.isDuplicate(`${one.id}`, nowUtc)).toBe(isKnown);
        if (!isKnown) endsUtc.set(one.id, nowUtc + windowInMs);
      }
    }),
  );
});

test('keeps no more ids than came within two windows', () => {
  const window = new DuplicateWindow(WINDOW_IN_MS);
  let most = 0;
  for (let count = 0; count < 10_000; count++) {
    window.isDuplicate(`${count}`, count * 1000);
    most = Math.max(most, window.size);
  }
  expect(most).toBeLessThanOrEqual(122);
});

test('keeps nothing of what has ended while nothing came', () => {
  const window = new DuplicateWindow(WINDOW_IN_MS);
  for (let count = 0; count < 1000; count++) window.isDuplicate(`${count}`, count);
  window.isDuplicate('much later', 10 * WINDOW_IN_MS);
  expect(window.size).toBe(1);
});
