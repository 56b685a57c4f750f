import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { checkLedger } from '../../../../functions/core/adapters/table-storage/check-ledger.ts';
import { deleteBatch, type Version } from '../../../../functions/core/adapters/table-storage/delete-batch.ts';
import { toColumns } from '../../../../functions/core/adapters/table-storage/entity.ts';
import { keysOf } from '../../../../functions/core/adapters/table-storage/keys.ts';
import { sweepLedger } from '../../../../functions/core/adapters/table-storage/sweep.ts';
import type { TableStore } from '../../../../functions/core/adapters/table-storage/table-store.ts';
import type { LedgerRecord } from '../../../../functions/core/rules/ledger.ts';
import { startTableBench } from './table-bench.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const retention = { retentionInMs: 30 * DAY };
const NOTHING = { deleted: 0, stranded: [], strandedCount: 0, nextPartition: 0, failure: undefined };

let bench: Awaited<ReturnType<typeof startTableBench>>;
let store: TableStore;
let tables = 0;
let nowUtc: number;
beforeAll(async () => {
  bench = await startTableBench();
});
afterAll(() => bench?.stop());
beforeEach(async () => {
  store = bench.store(`sweep${++tables}`);
  await checkLedger(store);
  nowUtc = (await store.serverTime()).latestUtc;
});

/** A record whose last write, lease and due time are this long ago. */
function anEntity(
  eventId: string,
  kind: LedgerRecord['kind'],
  agoInMs: number,
  consumer = 'orders',
  partitionKey = keysOf({ consumer, eventId }).partitionKey,
) {
  const thenUtc = nowUtc - agoInMs;
  const record: LedgerRecord = {
    kind,
    generation: 1,
    attempt: 2,
    opener: '1',
    sequenceNumber: '1',
    owner: '',
    leaseEndUtc: kind === 'inProgress' ? thenUtc : 0,
    takeovers: 0,
    sinceUtc: thenUtc,
    deadLetter: undefined,
  };
  const dueUtc = kind === 'scheduled' ? thenUtc : undefined;
  const columns = toColumns({ consumer, eventId }, { record, unsent: undefined, dueUtc });
  return { ...columns, partitionKey, rowKey: keysOf({ consumer, eventId }).rowKey };
}

async function put(...args: Parameters<typeof anEntity>): Promise<Version> {
  const { partitionKey, rowKey, ...columns } = anEntity(...args);
  const keys = { partitionKey, rowKey };
  return { keys, etag: (await store.insert(keys, columns)) ?? expect.fail('it exists') };
}

async function eventIds(): Promise<string[]> {
  const ids = [];
  for await (const { eventId } of store.table.listEntities<{ eventId: string }>()) ids.push(eventId);
  return ids.sort();
}

describe('a sweep', () => {
  test('deletes what ended longer ago than the retention, of every consumer, and nothing else', async () => {
    for (const kind of ['completed', 'deadLettered', 'released'] as const) {
      await put(`${kind} long ago`, kind, 30 * DAY + HOUR);
      await put(`${kind} of invoices`, kind, 30 * DAY + HOUR, 'invoices');
      await put(`${kind} in time`, kind, 30 * DAY - HOUR);
    }

    expect(await sweepLedger(store, retention)).toEqual({ ...NOTHING, deleted: 6 });
    expect(await eventIds()).toEqual(['completed in time', 'deadLettered in time', 'released in time']);
  });

  test('reports what is stranded by its raw id, and never deletes it', async () => {
    const kinds = ['scheduled', 'inProgress', 'unsent', 'deadLettering'] as const;
    for (const kind of kinds) {
      await put(`${kind}/ #1`, kind, 40 * DAY);
      await put(`${kind} not long ago`, kind, HOUR / 2);
    }

    const sweep = await sweepLedger(store, retention);

    const byKind = (a: { kind: string }, b: { kind: string }) => a.kind.localeCompare(b.kind);
    expect({ ...sweep, stranded: sweep.stranded.toSorted(byKind) }).toEqual({
      ...NOTHING,
      strandedCount: 4,
      stranded: kinds
        .map((kind) => ({
          kind,
          consumer: 'orders',
          eventId: `${kind}/ #1`,
          generation: 1,
          attempt: 2,
          sinceUtc: nowUtc - 40 * DAY,
        }))
        .sort(byKind),
    });
    expect(await eventIds()).toHaveLength(8);
  });

  test('goes through a crowded partition page by page, in transactions of 100', async () => {
    const partitionKey = '7f-00000000';
    const crowd = Array.from({ length: 1_050 }, (_, i) => `order-${i}`);
    for (let i = 0; i < crowd.length; i += 100) {
      const entities = crowd.slice(i, i + 100).map((id) => anEntity(id, 'completed', 31 * DAY, 'orders', partitionKey));
      await store.table.submitTransaction(entities.map((entity) => ['create', entity]));
    }
    bench.proxy.requests();

    expect(await sweepLedger(store, retention)).toEqual({ ...NOTHING, deleted: 1_050 });
    // A page holds 1,000.
    expect(bench.proxy.requests().filter((method) => method === 'POST')).toHaveLength(11);
    expect(await eventIds()).toEqual([]);
  });

  test.each([
    ['after a partition', 'delete a batch', { deleted: 1, nextPartition: 1 }],
    ['within a partition', 'list', { deleted: 0, nextPartition: 0 }],
  ])('stops at the signal %s, and the next one goes on where it stopped', async (_, at, progress) => {
    await put('first', 'completed', 31 * DAY, 'orders', '00-00000000');
    await put('last', 'completed', 31 * DAY, 'orders', 'ff-00000000');
    const stop = new AbortController();
    const stopping: TableStore = {
      ...store,
      operate: async (what, call) => {
        const result = await store.operate(what, call);
        if (what === at) stop.abort();
        return result;
      },
    };

    const cut = await sweepLedger(stopping, { ...retention, signal: stop.signal });
    expect(cut).toEqual({ ...NOTHING, ...progress });

    await sweepLedger(store, { ...retention, firstPartition: cut.nextPartition });
    expect(await eventIds()).toEqual([]);
  });

  test('reports a store that fails, and where the next one should go on', async () => {
    await put('order', 'completed', 31 * DAY, 'orders', '00-00000000');
    bench.proxy.next('pass', 'pass', 'pass', { kind: 'answer', status: 503, headers: { 'retry-after': '5' } });

    expect(await sweepLedger(store, retention)).toEqual({
      ...NOTHING,
      deleted: 1,
      nextPartition: 2,
      failure: expect.objectContaining({ code: 'throttled', retryAfterInMs: 5_000 }),
    });
  });
});

describe('a batch', () => {
  test('spares the record that came back to life after it was read', async () => {
    const partitionKey = '7f-00000000';
    const versions = await Promise.all(
      ['a', 'b', 'c'].map((id) => put(id, 'deadLettered', 31 * DAY, 'orders', partitionKey)),
    );
    const [, revived] = versions;
    await store.replace(
      revived?.keys ?? expect.fail('none'),
      { kind: 'inProgress', eventId: 'b' },
      revived?.etag ?? '',
    );

    expect(await deleteBatch(store, versions)).toBe(2);
    expect(await eventIds()).toEqual(['b']);
  });

  test('is not troubled by one that is gone', async () => {
    const partitionKey = '7f-00000000';
    const versions = await Promise.all(['a', 'b'].map((id) => put(id, 'completed', 31 * DAY, 'orders', partitionKey)));
    const [gone] = versions;
    await store.remove(gone?.keys ?? expect.fail('none'), '*');

    expect(await deleteBatch(store, versions)).toBe(1);
    expect(await eventIds()).toEqual([]);
  });
});
