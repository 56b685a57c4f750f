import type { LastFailure } from './dead-letter.ts';
import { hash } from './hash.ts';

/**
 * The form in which an event's fingerprint is recorded, 64 characters: a hash of what the event names as its content
 * (amount and currency, say), so that no content stands in the ledger.
 */
export const fingerprintOf = (...content: readonly (string | number)[]): string => hash('fingerprint', ...content);

/**
 * Whether a delivery brings the content under which the ledger knows its event id. Only where the event defines a
 * fingerprint, and only against a record that holds one: a producer that adds the definition later conflicts with
 * nothing.
 */
export const isSameContent = (recorded: string | undefined, delivered: string | undefined): boolean =>
  !recorded || !delivered || recorded === delivered;

/** Why a delivery is dead-lettered whose id is known with another content. */
export function conflictFailure(eventId: string, recorded: string, delivered: string | undefined): LastFailure {
  const now = delivered?.slice(0, 8) ?? 'none';
  const message = `event ${eventId} is known with another content (fingerprint ${recorded.slice(0, 8)}, now ${now})`;
  return { reason: 'IdempotencyConflict', code: 'IdempotencyConflict', message };
}
