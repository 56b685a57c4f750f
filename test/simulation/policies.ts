import { DEFAULT_POLICY, type RetryPolicy } from '../../functions/core/rules/policy.ts';

/** Three attempts, short delays, short handlers. */
export const aPolicy = (changes: Partial<RetryPolicy> = {}): RetryPolicy => ({
  ...DEFAULT_POLICY,
  attempts: 3,
  baseDelayInMs: 2_000,
  tries: 1,
  tryDelaysInMs: [],
  handlerTimeoutInMs: 10_000,
  lockDurationInMs: 30_000,
  ...changes,
});
