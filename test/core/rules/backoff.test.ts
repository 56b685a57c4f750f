import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Backoff, backoffInMs, spreadInMs } from '../../../functions/core/rules/backoff.ts';
import { fraction } from '../../../functions/core/rules/hash.ts';
import { CURVES, JITTERS } from '../../../functions/core/rules/policy.ts';

const aBackoff = (changes: Partial<Backoff> = {}): Backoff => ({
  baseDelayInMs: 1_000,
  multiplier: 2,
  capInMs: 60_000,
  curve: 'exponential',
  delaysInMs: [],
  jitter: 'none',
  ...changes,
});

const delays = (backoff: Backoff, attempts: readonly number[], eventId = 'A') =>
  attempts.map((attempt) => backoffInMs(backoff, attempt, eventId));

const YEAR_IN_MS = 31_536_000_000;

describe('the curve', () => {
  it('doubles from the base to the cap', () => {
    expect(delays(aBackoff(), [1, 2, 3, 4, 6, 7, 8])).toEqual([1_000, 2_000, 4_000, 8_000, 32_000, 60_000, 60_000]);
  });

  it('grows by the multiplier', () => {
    expect(delays(aBackoff({ multiplier: 3 }), [1, 2, 3])).toEqual([1_000, 3_000, 9_000]);
  });

  it('grows by the base each time when linear', () => {
    expect(delays(aBackoff({ curve: 'linear', baseDelayInMs: 25_000 }), [1, 2, 3])).toEqual([25_000, 50_000, 60_000]);
  });

  it('takes a list in its order and repeats its last', () => {
    const backoff = aBackoff({ curve: 'list', delaysInMs: [5_000, 1_000, 30_000] });
    expect(delays(backoff, [1, 2, 3, 4])).toEqual([5_000, 1_000, 30_000, 30_000]);
  });

  it('falls back to the base where a list is empty', () => {
    expect(delays(aBackoff({ curve: 'list', baseDelayInMs: 7_000 }), [1, 2])).toEqual([7_000, 7_000]);
  });

  it('never goes under a second, not by the cap either', () => {
    expect(backoffInMs(aBackoff({ baseDelayInMs: 10 }), 1, 'A')).toBe(1_000);
    expect(backoffInMs(aBackoff({ capInMs: 10 }), 1, 'A')).toBe(1_000);
    expect(backoffInMs(aBackoff({ baseDelayInMs: 1_000, jitter: 'full' }), 1, 'A')).toBe(1_000);
  });

  it.each([
    [60, 60_000],
    [Number.POSITIVE_INFINITY, 60_000],
    [2.9, 2_000],
    [0, 1_000],
    [-7, 1_000],
    [Number.NEGATIVE_INFINITY, 1_000],
    [Number.NaN, 1_000],
  ])('takes attempt %d for one that can be', (attempt, expected) => {
    expect(backoffInMs(aBackoff(), attempt, 'A')).toBe(expected);
  });

  it('takes values that are no delay for the shortest, and the longest for a year', () => {
    const endless = aBackoff({ capInMs: Number.POSITIVE_INFINITY });
    expect(backoffInMs({ ...endless, baseDelayInMs: Number.NaN }, 1, 'A')).toBe(1_000);
    expect(backoffInMs({ ...endless, multiplier: Number.NaN }, 2, 'A')).toBe(1_000);
    expect(backoffInMs(aBackoff({ capInMs: Number.NaN }), 5, 'A')).toBe(1_000);
    expect(backoffInMs(endless, 900, 'A')).toBe(YEAR_IN_MS);
  });
});

describe('jitter', () => {
  it('full draws from the whole delay', () => {
    const backoff = aBackoff({ jitter: 'full', baseDelayInMs: 40_000 });
    expect(backoffInMs(backoff, 1, 'C')).toBe(Math.round(40_000 * fraction('backoff', 'C', 1)));
  });

  it('equal draws from the upper half', () => {
    const backoff = aBackoff({ jitter: 'equal', baseDelayInMs: 40_000 });
    expect(backoffInMs(backoff, 1, 'B')).toBe(Math.round(20_000 + 20_000 * fraction('backoff', 'B', 1)));
  });

  it('decorrelated draws between the base and three times the delay before', () => {
    const backoff = aBackoff({ jitter: 'decorrelated', baseDelayInMs: 2_000 });
    const first = 2_000 + 4_000 * fraction('backoff', 'B', 1);
    const second = 2_000 + (first * 3 - 2_000) * fraction('backoff', 'B', 2);
    expect(delays(backoff, [1, 2], 'B')).toEqual([Math.round(first), Math.round(second)]);
  });

  it('decorrelated starts at the cap where the base is above it', () => {
    const backoff = aBackoff({ jitter: 'decorrelated', baseDelayInMs: 90_000 });
    expect(delays(backoff, [1, 2], 'B')).toEqual([60_000, 60_000]);
  });

  it.each(['full', 'equal', 'decorrelated'] as const)('%s still spreads what has reached the cap', (jitter) => {
    const backoff = aBackoff({ jitter, capInMs: 3_600_000, multiplier: 10 });
    const drawn = Array.from({ length: 100 }, (_, n) => backoffInMs(backoff, 12, `event ${n}`));
    expect(new Set(drawn).size).toBeGreaterThan(50);
  });

  it('picks another delay for another event and for another attempt, and the same one again', () => {
    const backoff = aBackoff({ jitter: 'full', baseDelayInMs: 60_000, multiplier: 1 });
    const drawn = [...delays(backoff, [1, 2], 'A'), ...delays(backoff, [1, 2], 'B')];
    expect(new Set(drawn).size).toBe(4);
    expect([...delays(backoff, [1, 2], 'A'), ...delays(backoff, [1, 2], 'B')]).toEqual(drawn);
  });
});

describe('any policy and any attempt', () => {
  const number = fc.oneof(fc.double(), fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, -1, 0, 1_000, 5e9));
  const backoff: fc.Arbitrary<Backoff> = fc.record({
    baseDelayInMs: number,
    multiplier: number,
    capInMs: number,
    curve: fc.constantFrom(...CURVES),
    delaysInMs: fc.array(number, { maxLength: 4 }),
    jitter: fc.constantFrom(...JITTERS),
  });
  const attempt = fc.oneof(
    fc.integer({ min: 1, max: 70 }),
    fc.constantFrom(60, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN, -1, 0, 2 ** 53, 1.5),
  );

  it('give a whole, finite delay of a second to a year, at most the cap, the same when asked again', () => {
    fc.assert(
      fc.property(backoff, attempt, fc.string(), (policy, nth, eventId) => {
        const delay = backoffInMs(policy, nth, eventId);
        expect(Number.isInteger(delay)).toBe(true);
        expect(delay).toBeGreaterThanOrEqual(1_000);
        expect(delay).toBeLessThanOrEqual(YEAR_IN_MS);
        if (policy.capInMs >= 1_000) expect(delay).toBeLessThanOrEqual(Math.round(policy.capInMs));
        expect(backoffInMs(policy, nth, eventId)).toBe(delay);
      }),
    );
  });
});

describe('the spread of a floor', () => {
  it.each([
    [120_000, 13_000],
    [0, 1_000],
    [3_600_000, 60_000],
    [Number.POSITIVE_INFINITY, 60_000],
    [-5, 1_000],
    [Number.NaN, 1_000],
  ])('of %d ms is drawn from %d ms', (floorInMs, widthInMs) => {
    expect(spreadInMs(floorInMs, 1, 'A')).toBe(Math.round(widthInMs * fraction('spread', 'A', 1)));
  });

  it('differs from event to event', () => {
    const drawn = Array.from({ length: 500 }, (_, n) => spreadInMs(120_000, 1, `event ${n}`));
    expect(new Set(drawn).size).toBeGreaterThan(400);
  });
});
