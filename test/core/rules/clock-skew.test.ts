import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clockSkewInMs } from '../../../functions/core/rules/clock-skew.ts';
import { decide } from '../../../functions/core/rules/decide.ts';
import { aPolicy, ENQUEUED_UTC } from '../../fixtures/deliveries.ts';

const MINUTE = 60_000;

/** On the broker's clock, a minute after the message was enqueued. */
const handedOverUtc = ENQUEUED_UTC + MINUTE;

/** What a machine finds whose clock is off by so much, where the store's clock is the broker's. */
const found = (offInMs: number) => clockSkewInMs(ENQUEUED_UTC, handedOverUtc, handedOverUtc + offInMs);

describe('the difference of the clocks', () => {
  it('is what our clock is behind or ahead of the store', () => {
    expect([found(-4 * MINUTE), found(4 * MINUTE)]).toEqual([4 * MINUTE, -4 * MINUTE]);
  });

  it('is nothing where the clocks differ by 5 s or less', () => {
    expect([found(5_000), found(-5_000)]).toEqual([0, 0]);
    expect([found(5_001), found(-5_001)]).toEqual([-5_001, 5_001]);
  });

  it('never puts the broker before the enqueue, and goes by that alone where the store is not known', () => {
    expect(clockSkewInMs(ENQUEUED_UTC, ENQUEUED_UTC - 3 * MINUTE, ENQUEUED_UTC - MINUTE)).toBe(MINUTE);
    expect(clockSkewInMs(ENQUEUED_UTC, undefined, ENQUEUED_UTC - 3 * MINUTE)).toBe(3 * MINUTE);
    expect(clockSkewInMs(ENQUEUED_UTC, undefined, ENQUEUED_UTC + 3 * MINUTE)).toBe(0);
  });

  it('is nothing where no instant is known', () => {
    expect(clockSkewInMs(Number.NaN, undefined, handedOverUtc)).toBe(0);
  });
});

describe("a decision on the broker's clock", () => {
  it('makes a copy due after its delay, within 5 s, however far our own clock is off', () => {
    const day = 24 * 60 * MINUTE;
    fc.assert(
      fc.property(fc.integer({ min: -day, max: day }), fc.integer({ min: 1, max: 3 }), (offInMs, attempt) => {
        const nowUtc = handedOverUtc + offInMs + found(offInMs);
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
