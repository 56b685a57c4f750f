import { describe, expect, it } from 'vitest';
import {
  contradictions,
  DEFAULT_POLICY,
  type RetryPolicy,
  SETTLE_MARGIN_IN_MS,
} from '../../../functions/core/rules/policy.ts';
import { aPolicy } from '../../fixtures/deliveries.ts';

const host = { functionTimeoutInMs: 420_000, maxAutoLockRenewalInMs: 450_000 };
const problems = (changes: Partial<RetryPolicy>, limits = host) => contradictions(aPolicy(changes), limits);

describe('a policy', () => {
  it('agrees with itself, the queue and the host by default', () => {
    expect(contradictions(DEFAULT_POLICY, host)).toEqual([]);
    expect(problems({})).toEqual([]);
  });

  it("leaves time to settle after the handler: by the shorter of the host's limits", () => {
    expect(SETTLE_MARGIN_IN_MS).toBe(5_000);
    expect(problems({ handlerTimeoutInMs: 415_000 })).toEqual([]);
    expect(problems({ handlerTimeoutInMs: 415_001 })).toEqual([
      'handlerTimeoutInMs 415001 must be at most 415000: functionTimeout (420000) and maxAutoLockRenewalDuration (450000), less 5000 to settle',
    ]);
    expect(
      problems({ handlerTimeoutInMs: 55_001, outageInMs: 0 }, { ...host, maxAutoLockRenewalInMs: 60_000 }),
    ).toEqual([
      'handlerTimeoutInMs 55001 must be at most 55000: functionTimeout (420000) and maxAutoLockRenewalDuration (60000), less 5000 to settle',
    ]);
  });

  it('leaves time for the tries between their pauses, of which the last repeats', () => {
    const tries = { tries: 5, tryDelaysInMs: [1_000, 2_000, 1_000] };
    expect(problems({ ...tries, handlerTimeoutInMs: 5_001 })).toEqual([]);
    expect(problems({ ...tries, handlerTimeoutInMs: 5_000 })).toEqual([
      'the pauses between 5 tries (5000 ms) must be shorter than handlerTimeoutInMs (5000)',
    ]);
    expect(problems({ tries: 3, tryDelaysInMs: [], handlerTimeoutInMs: 1 })).toEqual([]);
    expect(problems({ tries: 1, tryDelaysInMs: [60_000] })).toEqual([]);
  });

  it('names the delays of a list', () => {
    expect(problems({ curve: 'list' })).toEqual(['curve list needs delaysInMs']);
    expect(problems({ curve: 'list', delaysInMs: [1_000], baseDelayInMs: 90_000 })).toEqual([]);
    expect(problems({ curve: 'linear' })).toEqual([]);
  });

  it('starts at or below its cap', () => {
    expect(problems({ baseDelayInMs: 60_000 })).toEqual([]);
    expect(problems({ baseDelayInMs: 60_001 })).toEqual(['baseDelayInMs 60001 must be at most capInMs 60000']);
    expect(problems({ baseDelayInMs: 60_001, curve: 'linear' })).toEqual([
      'baseDelayInMs 60001 must be at most capInMs 60000',
    ]);
  });

  it('ends its window before a copy expires', () => {
    expect(problems({ windowInMs: 60_000, timeToLiveInMs: 60_000 })).toEqual([]);
    expect(problems({ windowInMs: 60_001, timeToLiveInMs: 60_000 })).toEqual([
      "windowInMs 60001 must be at most the queue's timeToLiveInMs 60000: a copy must not expire inside its retry window",
    ]);
  });

  it('has a window that its first delay fits in, where it redelivers at all', () => {
    const short = { windowInMs: 4_999 };
    expect(problems({ baseDelayInMs: 5_000, windowInMs: 5_000 })).toEqual([]);
    expect(problems({ ...short, baseDelayInMs: 5_000 })).toEqual([
      'the first delay (5000 ms) must be at most windowInMs 4999, or no redelivery can ever happen',
    ]);
    expect(problems({ ...short, curve: 'list', delaysInMs: [5_000] })).toEqual([
      'the first delay (5000 ms) must be at most windowInMs 4999, or no redelivery can ever happen',
    ]);
    expect(problems({ ...short, baseDelayInMs: 5_000, attempts: 1 })).toEqual([]);
    expect(problems({ ...short, curve: 'list', delaysInMs: [5_000], capInMs: 4_999 })).toEqual([]);
  });

  // G7
  it('dead-letters poison before the broker does it without a reason', () => {
    expect(problems({ crashLimit: 3, maxDeliveryCount: 5, outageInMs: 0 })).toEqual([]);
    expect(problems({ crashLimit: 3, maxDeliveryCount: 4, outageInMs: 0 })).toEqual([
      'maxDeliveryCount 4 must be at least crashLimit + 2 (5), or the broker dead-letters without a reason',
    ]);
  });

  it('has deliveries enough for an hour without sending, all but the last, each held as long as its lock', () => {
    expect(problems({ maxDeliveryCount: 10, outageInMs: 3_735_000 })).toEqual([]);
    expect(problems({ maxDeliveryCount: 10, outageInMs: 3_735_001 })).toEqual([
      'outageInMs 3735001 must be at most 3735000: maxDeliveryCount (10) less one, times the 415000 ms that functionTimeout and maxAutoLockRenewalDuration let a delivery wait; else messages run out of deliveries in an outage',
    ]);
    expect(DEFAULT_POLICY.outageInMs).toBe(3_600_000);
  });

  it('has all of its problems named at once', () => {
    const all = {
      handlerTimeoutInMs: 420_000,
      tries: 2,
      tryDelaysInMs: [420_000],
      baseDelayInMs: 100_000,
      windowInMs: 59_000,
      timeToLiveInMs: 1_000,
      maxDeliveryCount: 1,
    };
    expect(problems(all).map((problem) => problem.split(' ', 3).join(' '))).toEqual([
      'handlerTimeoutInMs 420000 must',
      'the pauses between',
      'baseDelayInMs 100000 must',
      'the first delay',
      'windowInMs 59000 must',
      'maxDeliveryCount 1 must',
      'outageInMs 3600000 must',
    ]);
  });
});
