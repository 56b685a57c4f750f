import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clockSkewInMs } from '../../../functions/core/rules/clock-skew.ts';
import { decide } from '../../../functions/core/rules/decide.ts';
import { aPolicy, ENQUEUED_UTC } from '../../fixtures/deliveries.ts';

const LOCK_IN_MS = 60_000;
const MINUTE = 60_000;

/** A message that the broker handed over a minute, on its own clock, after it was enqueued. */
const handedOverUtc = ENQUEUED_UTC + MINUTE;
const delivery = { enqueuedUtc: ENQUEUED_UTC, lockedUntilUtc: handedOverUtc + LOCK_IN_MS };

const skew = (receivedUtc: number, changes: Partial<Parameters<typeof clockSkewInMs>[0]> = {}, lockInMs = LOCK_IN_MS) =>
  clockSkewInMs({ ...delivery, ...changes }, lockInMs, receivedUtc);

describe('the difference of the clocks', () => {
  it('is what our clock is behind the broker', () => {
    expect(skew(handedOverUtc - 4 * MINUTE)).toBe(4 * MINUTE);
  });

  it('is what our clock is ahead of the broker, below zero', () => {
    expect(skew(handedOverUtc + 4 * MINUTE)).toBe(-4 * MINUTE);
  });

  it('is nothing where the clocks differ by 5 s or less: a delivery takes its time', () => {
    expect([skew(handedOverUtc + 5_000), skew(handedOverUtc - 5_000)]).toEqual([0, 0]);
    expect([skew(handedOverUtc + 5_001), skew(handedOverUtc - 5_001)]).toEqual([-5_001, 5_001]);
  });

  it('goes by the time of the enqueue where the end of the lock is not known', () => {
    expect(skew(ENQUEUED_UTC - 3 * MINUTE, { lockedUntilUtc: undefined })).toBe(3 * MINUTE);
    expect(skew(ENQUEUED_UTC + 3 * MINUTE, { lockedUntilUtc: undefined })).toBe(0);
  });

  it('never puts the broker before the enqueue, whatever the policy says of the lock', () => {
    expect(skew(handedOverUtc, {}, LOCK_IN_MS + 5 * MINUTE)).toBe(-MINUTE);
  });

  it('is nothing where no instant is known', () => {
    expect(skew(handedOverUtc, { lockedUntilUtc: undefined, enqueuedUtc: Number.NaN })).toBe(0);
    expect(skew(handedOverUtc, { lockedUntilUtc: Number.NaN, enqueuedUtc: Number.NaN })).toBe(0);
  });

  it('goes by the lock alone where the time of the enqueue is not known', () => {
    expect(skew(handedOverUtc - 4 * MINUTE, { enqueuedUtc: Number.NaN })).toBe(4 * MINUTE);
  });
});

describe("a decision on the broker's clock", () => {
  it('makes a copy due after its delay, within 5 s, however far our own clock is off', () => {
    const day = 24 * 60 * MINUTE;
    fc.assert(
      fc.property(fc.integer({ min: -day, max: day }), fc.integer({ min: 1, max: 3 }), (offInMs, attempt) => {
        const receivedUtc = handedOverUtc + offInMs;
        const nowUtc = receivedUtc + skew(receivedUtc);
        const standing = { eventId: 'A', attempt, deadlineUtc: ENQUEUED_UTC + 10 * MINUTE, expiresUtc: undefined };
        const failure = { kind: 'transient', code: 'C', message: 'm', retryAfter: undefined } as const;
        const decision = decide(standing, failure, aPolicy(), nowUtc);
        const delayInMs = 1_000 * 2 ** (attempt - 1);
        const waitsInMs = decision.kind === 'redeliver' ? decision.dueUtc - handedOverUtc : Number.NaN;
        expect(Math.abs(waitsInMs - delayInMs)).toBeLessThanOrEqual(5_000);
      }),
    );
  });
});
