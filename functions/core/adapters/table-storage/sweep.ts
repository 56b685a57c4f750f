import type { LedgerError } from '../../pipeline/ports.ts';
import type { RecordKind } from '../../rules/ledger.ts';
import { BATCH_SIZE, deleteBatch, type Version } from './delete-batch.ts';
import { fromColumns } from './entity.ts';
import { PARTITIONS, partitionFilter } from './keys.ts';
import type { Found, TableStore } from './table-store.ts';

/** A record that should have moved on by itself and has not; only a person can tell why. */
export interface Stranded {
  /**
   * `scheduled`: its copy is past due and has not come. `inProgress`: its lease has long lapsed and no delivery has
   * taken it over. `unsent`: no delivery has come to send its copy. `deadLettering`: never confirmed.
   */
  readonly kind: Extract<RecordKind, 'scheduled' | 'inProgress' | 'unsent' | 'deadLettering'>;
  readonly consumer: string;
  /** The raw id, cut where it is very long. */
  readonly eventId: string;
  readonly generation: number;
  readonly attempt: number;
  readonly sinceUtc: number;
}

/** What of the ledger to sweep. */
export interface SweepOptions {
  /** How long an ended event is remembered; longer than retry window plus replay horizon, or a replay runs twice. */
  readonly retentionInMs: number;
  /** How late a record must be to count as stranded; an hour unless told, so that a backlog is not reported. */
  readonly strandedAfterInMs?: number;
  /** Where to begin, as given by the sweep before; 0 unless told. */
  readonly firstPartition?: number;
  /** Ends the sweep after the page in hand. */
  readonly signal?: AbortSignal;
}

/** What a sweep has done. */
export interface Sweep {
  readonly deleted: number;
  /** The first 1,000. */
  readonly stranded: readonly Stranded[];
  /** How many in all. */
  readonly strandedCount: number;
  /** Where the next sweep should begin; 0 after a whole one. */
  readonly nextPartition: number;
  /** Why it ended early, where the store failed. */
  readonly failure: LedgerError | undefined;
}

/** Enough for an operator to see what they have in common. */
const STRANDED_LIMIT = 1_000;
const STRANDED_AFTER_IN_MS = 3_600_000;

/**
 * Deletes the records of events that ended longer ago than the retention, of all consumers in the table, partition by
 * partition; Table Storage expires nothing by itself. Reports stranded records and never deletes them. Each record is
 * deleted only as it was read, so one that comes back to life meanwhile stays.
 */
export async function sweepLedger(store: TableStore, options: SweepOptions): Promise<Sweep> {
  const { firstPartition = 0, signal } = options;
  const tally: Tally = { deleted: 0, stranded: [], strandedCount: 0 };
  let partition = firstPartition;
  let failure: LedgerError | undefined;
  try {
    const filter = filterFor((await store.serverTime()).earliestUtc, options);
    while (partition < PARTITIONS && !signal?.aborted) {
      const isWhole = await sweepPartition(store, `${partitionFilter(partition)} and (${filter})`, tally, signal);
      if (isWhole) partition++;
    }
  } catch (error) {
    if ((error as Error).name !== 'LedgerError') throw error;
    failure = error as LedgerError;
  }
  return { ...tally, nextPartition: partition % PARTITIONS, failure };
}

interface Tally {
  deleted: number;
  readonly stranded: Stranded[];
  strandedCount: number;
}

/** @returns false where the signal cut it short: it is swept again, and what is deleted already costs nothing then */
async function sweepPartition(
  store: TableStore,
  filter: string,
  tally: Tally,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  for await (const page of pagesOf(store, filter)) {
    if (signal?.aborted) return false;
    const stranded = page.map(strandedOf);
    const reported = stranded.filter((each) => each !== undefined);
    tally.strandedCount += reported.length;
    tally.stranded.push(...reported.slice(0, STRANDED_LIMIT - tally.stranded.length));
    for (const batch of batchesOf(page.filter((_, i) => !stranded[i]))) {
      tally.deleted += await deleteBatch(store, batch);
    }
  }
  return true;
}

/** Selects what is expired or stranded, at the store. */
function filterFor(nowUtc: number, { retentionInMs, strandedAfterInMs = STRANDED_AFTER_IN_MS }: SweepOptions): string {
  const before = (column: string, utc: number) => `${column} lt datetime'${new Date(utc).toISOString()}'`;
  const oneOf = (...kinds: RecordKind[]) => `(${kinds.map((kind) => `kind eq '${kind}'`).join(' or ')})`;
  const late = nowUtc - strandedAfterInMs;
  return [
    `${oneOf('completed', 'deadLettered', 'released')} and ${before('since', nowUtc - retentionInMs)}`,
    `${oneOf('scheduled')} and ${before('due', late)}`,
    `${oneOf('inProgress')} and ${before('leaseEnd', late)}`,
    `${oneOf('unsent', 'deadLettering')} and ${before('since', late)}`,
  ]
    .map((clause) => `(${clause})`)
    .join(' or ');
}

/** One operation a page; each begins at its token, because a listing that failed once only says that it is done. */
async function* pagesOf(store: TableStore, filter: string): AsyncGenerator<Found[]> {
  let continuationToken: string | undefined;
  do {
    const page = await store.operate('list', async (options) => {
      const listing = store.table.listEntities<Record<string, unknown>>({ ...options, queryOptions: { filter } });
      return (await listing.byPage(continuationToken ? { continuationToken } : {}).next()).value;
    });
    yield (page ?? []).map((columns: Found['columns'] & { etag: string }) => ({ columns, etag: columns.etag }));
    continuationToken = page?.continuationToken;
  } while (continuationToken);
}

function strandedOf({ columns }: Found): Stranded | undefined {
  const { record } = fromColumns(columns);
  switch (record.kind) {
    case 'scheduled':
    case 'inProgress':
    case 'unsent':
    case 'deadLettering': {
      const { kind, generation, attempt, sinceUtc } = record;
      const { consumer, eventId } = columns;
      return { kind, consumer: String(consumer), eventId: String(eventId), generation, attempt, sinceUtc };
    }
    case 'released':
    case 'deadLettered':
    case 'completed':
      return undefined;
  }
}

/** Transactions are within one partition; a hash prefix has one for each consumer. */
function batchesOf(entities: readonly Found[]): Version[][] {
  const versions = entities.map(({ columns, etag }) => ({
    keys: { partitionKey: String(columns['partitionKey']), rowKey: String(columns['rowKey']) },
    etag,
  }));
  return Object.values(Object.groupBy(versions, ({ keys }) => keys.partitionKey)).flatMap((partition = []) =>
    Array.from({ length: Math.ceil(partition.length / BATCH_SIZE) }, (_, i) =>
      partition.slice(i * BATCH_SIZE, (i + 1) * BATCH_SIZE),
    ),
  );
}
