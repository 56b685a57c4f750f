import type { TableClient } from '@azure/data-tables';
import { type Clock, LedgerError } from '../../pipeline/ports.ts';
import type { EntityKeys } from './keys.ts';
import { type ServerTime, serverClock } from './server-clock.ts';
import { isConnectionFault, isMissing, isOvertaken, isTaken, toLedgerError } from './store-error.ts';

/** What the ledger uses of the SDK's client. */
export type Table = Pick<
  TableClient,
  | 'createEntity'
  | 'createTable'
  | 'deleteEntity'
  | 'getEntity'
  | 'listEntities'
  | 'pipeline'
  | 'submitTransaction'
  | 'tableName'
  | 'updateEntity'
>;

/** Properties of an entity as the SDK reads and writes them. */
export type Columns = Readonly<Record<string, string | number | Date>>;
/** An entity as it was read, with its version. */
export type Found = { readonly columns: Readonly<Record<string, unknown>>; readonly etag: string };

type OperationOptions = NonNullable<Parameters<TableClient['createEntity']>[1]>;

/**
 * The table behind the ledger, in one operation a call. An operation ends within twice its time limit: answered,
 * refused, or with a `LedgerError`; then it may or may not have been carried out.
 */
export interface TableStore {
  readonly table: Table;
  /** @returns undefined where there is none */
  get(keys: EntityKeys): Promise<Found | undefined>;
  /** @returns the new version; undefined where one exists, and then nothing was written */
  insert(keys: EntityKeys, columns: Columns): Promise<string | undefined>;
  /** Replaces the whole entity. @returns the new version; undefined where it is no longer at `etag`, or gone */
  replace(keys: EntityKeys, columns: Columns, etag: string): Promise<string | undefined>;
  /** @returns whether it was there, at `etag` */
  remove(keys: EntityKeys, etag: string): Promise<boolean>;
  /** Creates the table; nothing happens where it exists. */
  createTable(): Promise<void>;
  /** The store's clock now, as far as it has answered yet. */
  knownTime(): ServerTime | undefined;
  /** The store's clock now; asks the store only where it has not answered yet. */
  serverTime(): Promise<ServerTime>;
  /** Runs one call of the SDK under the time limit, with the clock kept and errors translated. */
  operate<T>(what: string, call: (options: OperationOptions) => Promise<T>): Promise<T>;
}

const OPERATION_TIMEOUT_IN_MS = 5_000;
/** Before the one repeat after a broken connection; a kept-alive socket that the service closed is the usual cause. */
const REPEAT_PAUSE_IN_MS = 100;

/** {@link TableStore} through the SDK. */
export function tableStore({
  table,
  clock,
  operationTimeoutInMs = OPERATION_TIMEOUT_IN_MS,
}: {
  readonly table: Table;
  readonly clock: Pick<Clock, 'monotonicInMs' | 'sleep'>;
  /** How long to wait for one answer; 5 s unless told. */
  readonly operationTimeoutInMs?: number;
}): TableStore {
  const server = serverClock();

  /** Rejects at the time limit even where the call does not heed its signal, a token request for instance. */
  async function once<T>(what: string, call: (options: OperationOptions) => Promise<T>): Promise<T> {
    const sentAtInMs = clock.monotonicInMs();
    const limit = new AbortController();
    const ended = new AbortController();
    const timedOut = clock.sleep(operationTimeoutInMs, ended.signal).then(() => {
      limit.abort();
      throw new LedgerError('unavailable', `the ledger did not ${what}: no answer within ${operationTimeoutInMs} ms`);
    });
    const answered = call({
      abortSignal: limit.signal,
      onResponse: ({ headers }) => server.observe(headers.get('date'), sentAtInMs, clock.monotonicInMs()),
    });
    try {
      return await Promise.race([answered, timedOut]);
    } finally {
      ended.abort();
      // The loser of the race rejects unheard.
      for (const loser of [answered, timedOut]) loser.catch(() => undefined);
    }
  }

  async function operate<T>(what: string, call: (options: OperationOptions) => Promise<T>): Promise<T> {
    try {
      return await once(what, call).catch(async (error) => {
        if (!isConnectionFault(error)) throw error;
        await clock.sleep(REPEAT_PAUSE_IN_MS);
        return once(what, call);
      });
    } catch (error) {
      throw toLedgerError(error, what);
    }
  }

  /** Gives undefined for the refusals that are answers. */
  async function unless<T>(refused: (error: unknown) => boolean, call: Promise<T>): Promise<T | undefined> {
    return call.catch((error: LedgerError) => {
      if (refused(error.cause)) return undefined;
      throw error;
    });
  }

  const store: TableStore = {
    table,
    operate,
    async get({ partitionKey, rowKey }) {
      const entity = await unless(
        isMissing,
        operate('read', (options) => table.getEntity<Record<string, unknown>>(partitionKey, rowKey, options)),
      );
      return entity && { columns: entity, etag: entity.etag };
    },
    async insert(keys, columns) {
      const written = await unless(
        isTaken,
        operate('insert', (options) => table.createEntity({ ...keys, ...columns }, options)),
      );
      return written && etagOf(written);
    },
    async replace(keys, columns, etag) {
      const written = await unless(
        isOvertaken,
        operate('replace', (options) => table.updateEntity({ ...keys, ...columns }, 'Replace', { ...options, etag })),
      );
      return written && etagOf(written);
    },
    async remove({ partitionKey, rowKey }, etag) {
      const removed = await unless(
        isOvertaken,
        operate('delete', (options) => table.deleteEntity(partitionKey, rowKey, { ...options, etag })),
      );
      return removed !== undefined;
    },
    createTable: () => operate('create its table', (options) => table.createTable(options)),
    knownTime: () => server.at(clock.monotonicInMs()),
    async serverTime() {
      const known = store.knownTime();
      if (known) return known;
      await store.get({ partitionKey: 'clock', rowKey: 'clock' });
      const asked = store.knownTime();
      if (!asked) throw new LedgerError('unavailable', 'the ledger did not tell its time: an answer without a Date');
      return asked;
    },
  };
  return store;
}

function etagOf({ etag }: { etag?: string }): string {
  // Without it no later write could be fenced.
  if (!etag) throw new LedgerError('unavailable', 'the ledger answered a write without an ETag');
  return etag;
}
