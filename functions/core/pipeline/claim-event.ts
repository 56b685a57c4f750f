import { type Passage, timesOf } from './passage.ts';
import type { Claim } from './ports.ts';
import { whileLockHolds } from './while-lock-holds.ts';

/** The ledger's answer, and until when a lease that it gave surely lasts, on the monotonic clock. */
export type Claimed = (Claim | { readonly kind: 'storeDown' }) & { readonly leaseEndsAtInMs: number };

/**
 * Asks the ledger, in place, for as long as the lock can be held and leaves time to put the delivery off. The lease
 * counts from before the question, so its end is not later than the store's.
 */
export async function claimEvent<Event>(passage: Passage<Event>, fingerprint: string | undefined): Promise<Claimed> {
  const { consumer, delivery, envelope, ports, invocation } = passage;
  const { generation, attempt, origin, eventId, deferrals, edit } = envelope;
  const key = { consumer: consumer.name, eventId };
  const claimant = { generation, attempt, origin, owner: delivery.lockToken, fingerprint, edit };
  const mayExist = attempt > 1 || deferrals > 0 || delivery.deliveryCount > 1;
  let leaseEndsAtInMs = 0;
  const ask = () => {
    const { leaseInMs } = timesOf(passage);
    leaseEndsAtInMs = ports.clock.monotonicInMs() + leaseInMs;
    return ports.ledger.claim(key, claimant, leaseInMs, mayExist);
  };
  const claim = await whileLockHolds(ports, invocation, ports.processWide.ledgerOutage, ask, true);
  return { ...(claim.kind === 'done' ? claim.value : { kind: 'storeDown' }), leaseEndsAtInMs };
}
