import type { Failure } from './failure.ts';
import { hash } from './hash.ts';

/**
 * The form in which an event's fingerprint is recorded, 64 characters: a hash of what the event names as its content
 * (amount and currency, say), so that no content stands in the ledger.
 */
export const fingerprintOf = (...content: readonly (string | number)[]): string => hash('fingerprint', ...content);

/**
 * Whether a delivery brings another content under an event id that the ledger knows. Only where the event defines a
 * fingerprint, and only against a record that holds one: a producer that adds the definition later conflicts with nothing.
 */
export function conflictOf(
  recorded: string | undefined,
  delivered: string | undefined,
  eventId: string,
): Failure | undefined {
  if (!recorded || !delivered || recorded === delivered) return undefined;
  const message = `event ${eventId} is known with another content (fingerprint ${recorded.slice(0, 8)}, now ${delivered.slice(0, 8)})`;
  return { kind: 'permanent', reason: 'IdempotencyConflict', code: 'IdempotencyConflict', message };
}
