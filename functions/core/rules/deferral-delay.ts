import type { Envelope } from './envelope.ts';
import { fraction } from './hash.ts';

const SECOND = 1_000;
const STORE_DOWN_BASE_IN_MS = 5 * SECOND;
const STORE_DOWN_CAP_IN_MS = 300 * SECOND;
/** Doublings beyond this change nothing: every cap is reached long before. */
const MOST_DOUBLINGS = 30;

type Deferred = Pick<Envelope, 'eventId' | 'deferrals' | 'origin'>;

const doubled = (baseInMs: number, deferrals: number): number => baseInMs * 2 ** Math.min(deferrals, MOST_DOUBLINGS);

/**
 * How long a delivery waits for another that holds its event, in ms. The holder's own next attempt comes back after a
 * second, then ever later, for the holder is about to finish; anything else comes after the holder's lease, spread over
 * two seconds.
 */
export function busyDelayInMs(envelope: Deferred, leaseEndsInMs: number, isNext: boolean): number {
  const untilLeaseEnds = Math.max(SECOND, leaseEndsInMs);
  if (isNext) return Math.min(doubled(SECOND, envelope.deferrals), untilLeaseEnds);
  return Math.round(untilLeaseEnds + 2 * SECOND * fraction('busy', envelope.eventId, envelope.origin.sequenceNumber));
}

/** How long a delivery waits for the store to come back, in ms: 5 s doubled by each deferral, at most 5 minutes, half of it chance. */
export function storeDownDelayInMs({ eventId, deferrals, origin }: Deferred): number {
  const delayInMs = Math.min(doubled(STORE_DOWN_BASE_IN_MS, deferrals), STORE_DOWN_CAP_IN_MS);
  return Math.round((delayInMs / 2) * (1 + fraction('store down', eventId, deferrals, origin.sequenceNumber)));
}
