import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backoffInMs } from '../../../functions/core/rules/backoff.ts';
import { type Decision, decide, type Standing } from '../../../functions/core/rules/decide.ts';
import type { Failure } from '../../../functions/core/rules/failure.ts';
import { aPolicy, ENQUEUED_UTC, NOW_UTC } from '../../fixtures/deliveries.ts';

const WINDOW_ENDS_UTC = ENQUEUED_UTC + 30 * 60_000;

const standing = (changes: Partial<Standing> = {}): Standing => ({
  eventId: 'A',
  attempt: 1,
  deadlineUtc: WINDOW_ENDS_UTC,
  expiresUtc: undefined,
  ...changes,
});

const transient = (changes: Partial<Extract<Failure, { kind: 'transient' }>> = {}): Failure => ({
  kind: 'transient',
  code: 'Http503',
  message: 'down',
  retryAfter: undefined,
  ...changes,
});
const permanent: Failure = {
  kind: 'permanent',
  reason: 'UnsupportedCurrency',
  code: 'UnsupportedCurrency',
  message: 'XXX',
};
const unclassified: Failure = { kind: 'unclassified', code: 'TypeError', message: 'x is undefined' };

const deadLetter = (reason: string, code: string, message: string): Decision => ({
  kind: 'deadLetter',
  failure: { reason, code, message },
});
const redeliver = (delayInMs: number, code = 'Http503', message = 'down'): Decision => ({
  kind: 'redeliver',
  dueUtc: NOW_UTC + delayInMs,
  delayInMs,
  failure: { reason: code, code, message },
});

describe('a failed attempt', () => {
  it('is redelivered after the delay of its attempt', () => {
    const decisions = [1, 2, 3].map((attempt) => decide(standing({ attempt }), transient(), aPolicy(), NOW_UTC));
    expect(decisions).toEqual([redeliver(1_000), redeliver(2_000), redeliver(4_000)]);
  });

  it('is dead-lettered at once with its own reason where it is permanent', () => {
    expect(decide(standing(), permanent, aPolicy(), NOW_UTC)).toEqual(
      deadLetter('UnsupportedCurrency', 'UnsupportedCurrency', 'XXX'),
    );
  });

  it('is dead-lettered where no rule knows it', () => {
    expect(decide(standing(), unclassified, aPolicy(), NOW_UTC)).toEqual(
      deadLetter('UnclassifiedFailure', 'TypeError', 'x is undefined'),
    );
  });

  it('is redelivered where no rule knows it and the policy takes that for transient', () => {
    expect(decide(standing(), unclassified, aPolicy({ unclassified: 'transient' }), NOW_UTC)).toEqual(
      redeliver(1_000, 'TypeError', 'x is undefined'),
    );
  });

  it.each([4, 5, 60, Number.POSITIVE_INFINITY, Number.NaN])(
    'is dead-lettered instead of redelivered on attempt %d of 4',
    (attempt) => {
      expect(decide(standing({ attempt }), transient(), aPolicy(), NOW_UTC)).toEqual(
        deadLetter('AttemptsExhausted', 'Http503', 'down'),
      );
    },
  );

  it('is never redelivered where the policy has one attempt', () => {
    expect(decide(standing(), transient(), aPolicy({ attempts: 1 }), NOW_UTC)).toEqual(
      deadLetter('AttemptsExhausted', 'Http503', 'down'),
    );
  });

  it('says that attempts are used up, not that time is, where both are', () => {
    const late = standing({ attempt: 4, deadlineUtc: NOW_UTC, expiresUtc: NOW_UTC });
    expect(decide(late, transient(), aPolicy(), NOW_UTC)).toEqual(deadLetter('AttemptsExhausted', 'Http503', 'down'));
  });

  it('has its secrets redacted, those of the policy too', () => {
    const failure = transient({ message: 'AccountKey=abc== of customer 4711' });
    expect(decide(standing(), failure, aPolicy({ secrets: [/customer \d+/] }), NOW_UTC)).toEqual(
      redeliver(1_000, 'Http503', 'AccountKey=[redacted] of [redacted]'),
    );
  });
});

describe('the retry window', () => {
  it('admits an attempt at its very end', () => {
    expect(decide(standing({ deadlineUtc: NOW_UTC + 1_000 }), transient(), aPolicy(), NOW_UTC)).toEqual(
      redeliver(1_000),
    );
  });

  it('dead-letters what would be attempted after it', () => {
    expect(decide(standing({ deadlineUtc: NOW_UTC + 999 }), transient(), aPolicy(), NOW_UTC)).toEqual(
      deadLetter(
        'RetryWindowExceeded',
        'Http503',
        'down (next attempt 2026-01-05T09:00:11.000Z, window ends 2026-01-05T09:00:10.999Z)',
      ),
    );
  });

  it('is not asked by a failure that wants no other attempt', () => {
    expect(decide(standing({ deadlineUtc: 0 }), permanent, aPolicy(), NOW_UTC)).toEqual(
      deadLetter('UnsupportedCurrency', 'UnsupportedCurrency', 'XXX'),
    );
  });
});

describe('the time to live', () => {
  it('admits an attempt a millisecond before the message expires', () => {
    expect(decide(standing({ expiresUtc: NOW_UTC + 1_001 }), transient(), aPolicy(), NOW_UTC)).toEqual(
      redeliver(1_000),
    );
  });

  // Field case F2.
  it('dead-letters what would expire while it waits, even where the window is over too', () => {
    const short = standing({ expiresUtc: NOW_UTC + 1_000, deadlineUtc: NOW_UTC });
    expect(decide(short, transient(), aPolicy(), NOW_UTC)).toEqual(
      deadLetter(
        'TimeToLiveExceeded',
        'Http503',
        'down (next attempt 2026-01-05T09:00:11.000Z, expires 2026-01-05T09:00:11.000Z)',
      ),
    );
  });
});

describe('what the other side asks for', () => {
  it('beats the policy and its cap', () => {
    const asked = transient({ retryAfter: { inMs: 120_000 } });
    expect(decide(standing(), asked, aPolicy({ capInMs: 5_000 }), NOW_UTC)).toEqual(redeliver(120_000));
  });

  it('counts as an instant too', () => {
    const asked = transient({ retryAfter: { utc: NOW_UTC + 90_000 } });
    expect(decide(standing(), asked, aPolicy(), NOW_UTC)).toEqual(redeliver(90_000));
  });

  it.each([{ inMs: 1_000 }, { inMs: 0 }, { utc: NOW_UTC - 60_000 }, { inMs: Number.NaN }])(
    'yields to a longer delay of the policy: %j',
    (retryAfter) => {
      expect(decide(standing(), transient({ retryAfter }), aPolicy(), NOW_UTC)).toEqual(redeliver(1_000));
    },
  );

  it('yields to a delay of the policy that is as long, jitter or not', () => {
    const asked = transient({ retryAfter: { inMs: 1_000 } });
    expect(decide(standing(), asked, aPolicy({ jitter: 'full' }), NOW_UTC)).toEqual(redeliver(1_000));
  });

  it('is rounded up to a whole millisecond', () => {
    expect(decide(standing(), transient({ retryAfter: { inMs: 1_500.2 } }), aPolicy(), NOW_UTC)).toEqual(
      redeliver(1_501),
    );
  });

  it('is spread upward where the policy has jitter, and differently for every event', () => {
    const delays = Array.from({ length: 500 }, (_, n) => {
      const asked = transient({ retryAfter: { inMs: 120_000 } });
      const decision = decide(standing({ eventId: `event ${n}` }), asked, aPolicy({ jitter: 'equal' }), NOW_UTC);
      return decision.kind === 'redeliver' ? decision.delayInMs : 0;
    });
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(120_000);
    expect(Math.max(...delays)).toBeLessThanOrEqual(133_000);
    expect(new Set(delays).size).toBeGreaterThan(400);
  });

  it('is not spread past the end of the window', () => {
    const asked = transient({ retryAfter: { inMs: 120_000 } });
    const last = standing({ deadlineUtc: NOW_UTC + 120_001 });
    const delays = ['A', 'B', 'C'].map((eventId) =>
      decide({ ...last, eventId }, asked, aPolicy({ jitter: 'full' }), NOW_UTC),
    );
    expect(delays).toEqual([redeliver(120_001), redeliver(120_001), redeliver(120_001)]);
  });

  it('is not spread to where the message has expired', () => {
    const asked = transient({ retryAfter: { inMs: 120_000 } });
    const last = standing({ expiresUtc: NOW_UTC + 120_002 });
    expect(decide(last, asked, aPolicy({ jitter: 'full' }), NOW_UTC)).toEqual(redeliver(120_001));
  });

  it('dead-letters where it asks for more than the window, however far', () => {
    const asked = transient({ retryAfter: { inMs: 1e300 } });
    expect(decide(standing(), asked, aPolicy({ jitter: 'full' }), NOW_UTC)).toEqual(
      deadLetter(
        'RetryWindowExceeded',
        'Http503',
        'down (next attempt 9999-12-31T23:59:59.999Z, window ends 2026-01-05T09:30:00.000Z)',
      ),
    );
  });
});

describe('any failure at any time', () => {
  const instant = fc.integer({ min: 0, max: 4e12 });
  const retryAfter = fc.oneof(
    fc.record({ inMs: fc.double({ min: 0, noNaN: true }) }),
    fc.record({ utc: instant }),
    fc.constant(undefined),
  );

  it('is redelivered inside window and time to live, not before the policy and the other side allow, or dead-lettered', () => {
    fc.assert(
      fc.property(
        fc.record({
          eventId: fc.string(),
          attempt: fc.oneof(fc.integer({ min: 1, max: 6 }), fc.double()),
          deadlineUtc: instant,
          expiresUtc: fc.option(instant, { nil: undefined }),
        }),
        retryAfter,
        fc.constantFrom('none', 'full', 'equal', 'decorrelated'),
        instant,
        (at, asked, jitter, nowUtc) => {
          const policy = aPolicy({ jitter });
          const decision = decide(at, transient({ retryAfter: asked }), policy, nowUtc);
          if (decision.kind === 'deadLetter') {
            expect(['AttemptsExhausted', 'RetryWindowExceeded', 'TimeToLiveExceeded']).toContain(
              decision.failure.reason,
            );
            return;
          }
          const { dueUtc, delayInMs } = decision;
          expect(at.attempt).toBeLessThan(policy.attempts);
          expect(dueUtc).toBe(nowUtc + delayInMs);
          expect(dueUtc).toBeLessThanOrEqual(at.deadlineUtc);
          expect(dueUtc).toBeLessThan(at.expiresUtc ?? Number.POSITIVE_INFINITY);
          expect(delayInMs).toBeGreaterThanOrEqual(backoffInMs(policy, at.attempt, at.eventId));
          const floorInMs = asked === undefined ? 0 : 'inMs' in asked ? asked.inMs : asked.utc - nowUtc;
          expect(delayInMs).toBeGreaterThanOrEqual(floorInMs);
        },
      ),
    );
  });
});
