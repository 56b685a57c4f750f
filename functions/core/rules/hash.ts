import { hash as digest } from 'node:crypto';

/**
 * SHA-256 of the parts, as 64 hexadecimal characters. Each part is preceded by its length, so that ('a', 'bc') and
 * ('ab', 'c') differ. Lone surrogates have no UTF-8 and would all become one replacement character: a part that holds
 * any is taken as UTF-16, under a mark of its own.
 */
export function hash(...parts: readonly (string | number)[]): string {
  const texts = parts.map(String);
  const isWellFormed = texts.every((text) => text.isWellFormed());
  // In one call: several would cost more than the hashing itself.
  return digest('sha256', isWellFormed ? texts.map(framed).join('') : Buffer.concat(texts.map(framedBytes)));
}

const framed = (text: string): string => `${text.length}:${text};`;

const framedBytes = (text: string): Buffer =>
  text.isWellFormed()
    ? Buffer.from(framed(text))
    : Buffer.concat([Buffer.from(`${text.length}!`), Buffer.from(text, 'utf16le'), Buffer.from(';')]);

/** A number in [0, 1) that the parts alone determine: chance that a second run repeats. */
export function fraction(...parts: readonly (string | number)[]): number {
  return Number.parseInt(hash(...parts).slice(0, 12), 16) / 2 ** 48;
}

/**
 * The event's key for a foreign system's idempotency, 64 characters: the same for every try, attempt and replay.
 *
 * @param edit of a replay whose content was changed: under the old key a provider would refuse or ignore it
 */
export const idempotencyKey = (consumer: string, eventId: string, edit?: string): string =>
  edit === undefined ? hash('effect', consumer, eventId) : hash('effect', consumer, eventId, edit);
