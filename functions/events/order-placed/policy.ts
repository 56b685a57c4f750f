import type { RetryPolicy } from '../../core/rules/policy.ts';

/** Charging an order may wait for half an hour, then a person should look at it. */
export const orderPlacedPolicy: Partial<RetryPolicy> = {
  attempts: 6,
  baseDelayInMs: 5_000,
  multiplier: 3,
  capInMs: 10 * 60_000,
  jitter: 'equal',
  windowInMs: 30 * 60_000,
  tries: 2,
  tryDelaysInMs: [250],
  handlerTimeoutInMs: 30_000,
};
