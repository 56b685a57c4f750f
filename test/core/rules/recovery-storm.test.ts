import { expect, it } from 'vitest';
import { decide } from '../../../functions/core/rules/decide.ts';
import type { Failure } from '../../../functions/core/rules/failure.ts';
import { aPolicy, NOW_UTC } from '../../fixtures/deliveries.ts';

const EVENTS = 10_000;
const MINUTE = 60_000;

/** How many of the events that fail in the same instant come back in each second, from the first of them to the last. */
function comingBack(failure: Failure, attempt: number): number[] {
  const policy = aPolicy({ jitter: 'equal', baseDelayInMs: 5_000, multiplier: 2, capInMs: 5 * MINUTE, attempts: 9 });
  const seconds = new Map<number, number>();
  for (let n = 0; n < EVENTS; n++) {
    const standing = { eventId: `order ${n}`, attempt, deadlineUtc: NOW_UTC + 60 * MINUTE, expiresUtc: undefined };
    const decision = decide(standing, failure, policy, NOW_UTC);
    const second = decision.kind === 'redeliver' ? Math.floor(decision.delayInMs / 1_000) : -1;
    seconds.set(second, (seconds.get(second) ?? 0) + 1);
  }
  const first = Math.min(...seconds.keys());
  return Array.from({ length: Math.max(...seconds.keys()) - first + 1 }, (_, n) => seconds.get(first + n) ?? 0);
}

const down: Failure = { kind: 'transient', code: 'Http503', message: 'down', retryAfter: undefined };

// Field cases N3 and F6: copies that all come back at once flood a provider that has just come back.
it.each([
  ['what failed for the first time comes back over 2.5 s', down, 1, 2.5],
  ['what failed again and again comes back over two and a half minutes', down, 7, 150],
  ['what was told when to come back comes back over 13 s', { ...down, retryAfter: { inMs: 120_000 } }, 1, 13],
] as const)(
  'of 10,000 events that fail at once, %s, no second with much more than its share',
  (_, failure, attempt, spreadInSeconds) => {
    const seconds = comingBack(failure, attempt);
    expect(seconds.length).toBeGreaterThanOrEqual(Math.floor(spreadInSeconds));
    expect(Math.max(...seconds)).toBeLessThan((EVENTS / spreadInSeconds) * 1.2 + 30);
  },
);
