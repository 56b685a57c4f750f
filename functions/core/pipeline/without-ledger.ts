import type { Hold, Ledger } from './ports.ts';

/**
 * The ledger of an event that needs none, because its handler is idempotent by nature: whatever comes runs, and nothing
 * is stored. What a record would know of runs that ended without an outcome is taken from the delivery count.
 */
export const withoutLedger = (deliveryCount: number): Ledger => ({
  async claim(key, { generation, attempt, origin, owner }, leaseInMs) {
    const hold: Hold = {
      key,
      etag: '',
      record: {
        kind: 'inProgress',
        generation,
        attempt,
        opener: origin.sequenceNumber,
        sequenceNumber: origin.sequenceNumber,
        owner,
        leaseEndUtc: leaseInMs,
        takeovers: deliveryCount - 1,
        sinceUtc: 0,
        deadLetter: undefined,
      },
    };
    return { kind: 'run', hold };
  },
  record: async (hold) => ({ kind: 'recorded', hold }),
});
