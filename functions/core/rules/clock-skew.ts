/** Up to here the clocks count as one: the store's is known to a second or two, and a delivery takes a while to reach us. */
const ALIKE_IN_MS = 5_000;

/**
 * What to add to our own clock to have the broker's, in ms; 0 where they differ by 5 s or less. Delays, the retry window
 * and the time to live are all the broker's to keep, so they are counted on its clock: on one that is minutes behind it,
 * every delay would have passed before its copy is sent, and on one that is minutes ahead the window would seem over.
 *
 * The broker tells its clock only by what it has stamped: it is never before a message's enqueue. The ledger's store, kept
 * by the same cloud, tells its own with each answer. (The end of the lock would tell too, less the queue's lock duration;
 * but where the policy has that wrong, every delay would be wrong by as much.)
 *
 * @param storeNowUtc the store's clock, where it is known
 * @param receivedUtc our own clock at the same moment
 */
export function clockSkewInMs(enqueuedUtc: number, storeNowUtc: number | undefined, receivedUtc: number): number {
  const skewInMs = Math.max(enqueuedUtc, storeNowUtc ?? receivedUtc) - receivedUtc;
  return Math.abs(skewInMs) > ALIKE_IN_MS ? skewInMs : 0;
}
