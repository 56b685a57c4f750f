import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { keepLockRenewed, renewalDelayInMs } from '../../../local/host/service-bus/lock-renewal.ts';

const START = new Date('2026-01-02T00:00:00Z');
const after = (inMs: number) => new Date(START.getTime() + inMs);

beforeEach(() => {
  vi.useFakeTimers({ now: START });
});

afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

/** A lock of 60 s that each renewal extends, until it is told to fail. */
function aLock(limitInMs: number) {
  const renewals: number[] = [];
  const errors: string[] = [];
  let failure: Error | undefined;
  const stop = keepLockRenewed({
    lockedUntilUtc: after(60_000),
    limitInMs,
    renew: async () => {
      renewals.push(Date.now() - START.getTime());
      if (failure) throw failure;
      return new Date(Date.now() + 60_000);
    },
    onError: ({ message }) => errors.push(message),
  });
  return { renewals, errors, stop, failWith: (error?: Error) => (failure = error) };
}

describe('a lock is renewed', () => {
  test('ten seconds before its end, up to the limit', async () => {
    const { renewals } = aLock(160_000);

    await vi.advanceTimersByTimeAsync(600_000);

    // The renewal at 100 s holds the lock until 160 s, which is the limit.
    expect(renewals).toEqual([50_000, 100_000]);
  });

  test('not at all where the limit is 0', async () => {
    const { renewals } = aLock(0);

    await vi.advanceTimersByTimeAsync(600_000);

    expect(renewals).toEqual([]);
  });

  test('no more once it is stopped', async () => {
    const { renewals, stop } = aLock(600_000);
    await vi.advanceTimersByTimeAsync(50_000);

    stop();
    await vi.advanceTimersByTimeAsync(600_000);

    expect(renewals).toEqual([50_000]);
  });

  test('no more once it is lost', async () => {
    const { renewals, errors, failWith } = aLock(600_000);
    failWith(new Error('lost'));

    await vi.advanceTimersByTimeAsync(600_000);

    expect([renewals, errors]).toEqual([[50_000], ['lost']]);
  });

  test('again after an error that may pass', async () => {
    const { renewals, errors, failWith, stop } = aLock(600_000);
    failWith(Object.assign(new Error('busy'), { retryable: true }));
    await vi.advanceTimersByTimeAsync(50_000);

    failWith(undefined);
    await vi.advanceTimersByTimeAsync(1_000);

    expect([renewals, errors]).toEqual([[50_000, 50_500], ['busy']]);
    stop();
  });
});

test.each([
  [60_000, 50_000],
  [20_000, 10_000],
  [1_000, 500],
  [399, 0],
  [-5, 0],
])('with %i ms left the next renewal comes in %i ms', (remainingInMs, expected) => {
  expect(renewalDelayInMs(remainingInMs)).toBe(expected);
});
