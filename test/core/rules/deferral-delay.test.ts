import { describe, expect, it } from 'vitest';
import { busyDelayInMs, storeDownDelayInMs } from '../../../functions/core/rules/deferral-delay.ts';
import { fraction } from '../../../functions/core/rules/hash.ts';
import { anEnvelope, anOrigin } from '../../fixtures/deliveries.ts';

const deferred = (deferrals: number, eventId = 'A') => anEnvelope({ deferrals, eventId });

describe('the delay of a delivery whose event is busy', () => {
  it('doubles from a second to the end of the lease, where the holder is about to finish', () => {
    const delays = [0, 1, 2, 5, 60, 2_147_483_647].map((deferrals) => busyDelayInMs(deferred(deferrals), 20_000, true));
    expect(delays).toEqual([1_000, 2_000, 4_000, 20_000, 20_000, 20_000]);
  });

  it('reaches past the end of the lease otherwise, spread over two seconds', () => {
    expect(busyDelayInMs(deferred(0), 20_000, false)).toBe(20_000 + Math.round(2_000 * fraction('busy', 'A', '7')));
  });

  it('is a second at least, where the lease is over', () => {
    expect(busyDelayInMs(deferred(3), -5_000, true)).toBe(1_000);
    expect(busyDelayInMs(deferred(3), -5_000, false)).toBe(1_000 + Math.round(2_000 * fraction('busy', 'A', '7')));
  });

  it('differs between two messages of one event', () => {
    const other = { ...deferred(0), origin: anOrigin({ sequenceNumber: '8' }) };
    expect(busyDelayInMs(other, 20_000, false)).not.toBe(busyDelayInMs(deferred(0), 20_000, false));
  });
});

describe('the delay while the store is down', () => {
  const chance = (deferrals: number) => fraction('store down', 'A', deferrals, '7');

  it.each([
    [0, 5_000],
    [1, 10_000],
    [5, 160_000],
    [6, 300_000],
    [60, 300_000],
    [2_147_483_647, 300_000],
  ])('after %i deferrals is drawn from the upper half of %i ms', (deferrals, delayInMs) => {
    expect(storeDownDelayInMs(deferred(deferrals))).toBe(Math.round((delayInMs / 2) * (1 + chance(deferrals))));
  });

  it('spreads the events, so that they do not all come back at once', () => {
    const delays = Array.from({ length: 200 }, (_, n) => storeDownDelayInMs(deferred(6, `event ${n}`)));
    expect(new Set(delays).size).toBeGreaterThan(190);
  });
});
