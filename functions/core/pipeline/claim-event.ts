import { type Passage, timesOf } from './passage.ts';
import type { Claim } from './ports.ts';
import { whileLockHolds } from './while-lock-holds.ts';

/** Asks the ledger, in place, for as long as the lock can be held and leaves time to put the delivery off. */
export async function claimEvent<Event>(passage: Passage<Event>): Promise<Claim | { readonly kind: 'storeDown' }> {
  const { consumer, delivery, envelope, ports, invocation } = passage;
  const { generation, attempt, origin, eventId, deferrals } = envelope;
  const key = { consumer: consumer.name, eventId };
  const claimant = { generation, attempt, origin, owner: delivery.lockToken };
  const mayExist = attempt > 1 || deferrals > 0 || delivery.deliveryCount > 1;
  const claim = await whileLockHolds(ports, invocation, () =>
    ports.ledger.claim(key, claimant, timesOf(passage).leaseInMs, mayExist),
  );
  return claim.kind === 'done' ? claim.value : { kind: 'storeDown' };
}
