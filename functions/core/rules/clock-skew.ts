import type { Delivery } from './delivery.ts';

/**
 * Up to here the clocks count as one: a delivery takes a while to reach us, and a whole lock duration may be rounded.
 */
const ALIKE_IN_MS = 5_000;

/**
 * What to add to our own clock to have the broker's, in ms; 0 where they differ by 5 s or less. Delays, the retry window
 * and the time to live are all the broker's to keep, so they are counted on its clock: on one that is minutes behind it,
 * every delay would have passed before its copy is sent, and on one that is minutes ahead the window would seem over.
 *
 * The broker's clock at receipt is the lock's end less the lock's duration. That holds where the host prefetches nothing
 * (`prefetchCount` 0); a prefetched delivery makes the broker's clock look behind by as long as it waited. It is never
 * before the message was enqueued, which limits the harm of a `lockDurationInMs` longer than the queue's own.
 *
 * @param receivedUtc our own clock when the delivery arrived, before anything else was done
 */
export function clockSkewInMs(
  delivery: Pick<Delivery, 'lockedUntilUtc' | 'enqueuedUtc'>,
  lockDurationInMs: number,
  receivedUtc: number,
): number {
  const lockedUtc = (delivery.lockedUntilUtc ?? Number.NaN) - lockDurationInMs;
  const brokerUtc = Number.isFinite(lockedUtc) ? lockedUtc : receivedUtc;
  const skewInMs =
    Math.max(brokerUtc, Number.isFinite(delivery.enqueuedUtc) ? delivery.enqueuedUtc : brokerUtc) - receivedUtc;
  return Math.abs(skewInMs) > ALIKE_IN_MS ? skewInMs : 0;
}
