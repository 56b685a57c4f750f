import type { EventKey } from '../../pipeline/ports.ts';
import { hash } from '../../rules/hash.ts';

/** Where a record lives in the table. */
export interface EntityKeys {
  readonly partitionKey: string;
  readonly rowKey: string;
}

/** Partitions a consumer, by the first two hexadecimal digits of the row key. */
export const PARTITIONS = 256;

const CONSUMER_DIGITS = 8;

/**
 * The keys of an event. Hashed, because an id may hold characters that keys must not (`/ \ # ?`, tab, controls), be
 * longer than the 1 KB that a key may have, or differ only in what a store folds.
 */
export function keysOf({ consumer, eventId }: EventKey): EntityKeys {
  const rowKey = hash('ledger', consumer, eventId);
  const partitionKey = `${rowKey.slice(0, 2)}-${hash('ledger', consumer).slice(0, CONSUMER_DIGITS)}`;
  return { partitionKey, rowKey };
}

/** The partition keys of all consumers under one hash prefix, as a filter. @param index from 0 to `PARTITIONS` - 1 */
export function partitionFilter(index: number): string {
  const prefix = index.toString(16).padStart(2, '0');
  // '.' is the character after '-'.
  return `PartitionKey ge '${prefix}-' and PartitionKey lt '${prefix}.'`;
}
