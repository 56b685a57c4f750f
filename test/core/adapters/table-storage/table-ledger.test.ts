import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../../../functions/core/adapters/system-clock.ts';
import { checkLedger } from '../../../../functions/core/adapters/table-storage/check-ledger.ts';
import { tableLedger } from '../../../../functions/core/adapters/table-storage/table-ledger.ts';
import type { TableStore } from '../../../../functions/core/adapters/table-storage/table-store.ts';
import type { EventKey, Hold, Ledger } from '../../../../functions/core/pipeline/ports.ts';
import { aClaimant, patientClock, startTableBench } from './table-bench.ts';

const LEASE_IN_MS = 60_000;
const LAPSED_IN_MS = -60_000;

let bench: Awaited<ReturnType<typeof startTableBench>>;
let store: TableStore;
let ledger: Ledger;
let key: EventKey;
let events = 0;

beforeAll(async () => {
  bench = await startTableBench();
  store = bench.store();
  await checkLedger(store);
  ledger = tableLedger(store);
});
afterAll(() => bench?.stop());
beforeEach(() => {
  key = { consumer: 'orders', eventId: `order-${++events}` };
  bench.proxy.requests();
});
afterEach(() => void vi.useRealTimers());

async function holdOf(leaseInMs = LEASE_IN_MS): Promise<Hold> {
  const claim = await ledger.claim(key, aClaimant(), leaseInMs, false);
  if (claim.kind !== 'run') throw new Error(`expected to run, got ${claim.kind}`);
  return claim.hold;
}
/** A failure as the pipeline sees it. */
const failureOf = (call: Promise<unknown>) =>
  call.then(
    () => expect.fail('it succeeded'),
    ({ name, code, message, retryAfterInMs }) => ({ name, code, message, retryAfterInMs }),
  );

describe('the operations it costs', () => {
  test('are two for an event that succeeds at once', async () => {
    await ledger.record(await holdOf(), { kind: 'completed' });

    expect(bench.proxy.requests()).toEqual(['POST', 'PUT']);
  });

  test.each([
    ['one for a duplicate that was expected', true, ['GET']],
    ['two for a duplicate that was not', false, ['POST', 'GET']],
  ])('are %s', async (_, mayExist, operations) => {
    await ledger.record(await holdOf(), { kind: 'completed' });
    bench.proxy.requests();

    expect(await ledger.claim(key, aClaimant({ owner: 'lock-2' }), LEASE_IN_MS, mayExist)).toEqual({
      kind: 'duplicate',
    });
    expect(bench.proxy.requests()).toEqual(operations);
  });

  test('are three for the next attempt: a read, a claim, an outcome', async () => {
    await ledger.record(await holdOf(), { kind: 'scheduled', attempt: 2, dueUtc: 0 });
    bench.proxy.requests();

    const claim = await ledger.claim(key, aClaimant({ attempt: 2, owner: 'lock-2' }), LEASE_IN_MS, true);
    await ledger.record((claim as { hold: Hold }).hold, { kind: 'completed' });

    expect(bench.proxy.requests()).toEqual(['GET', 'PUT', 'PUT']);
  });
});

describe('a reply that gets lost', () => {
  test('after the insert leaves the claim ours', async () => {
    bench.proxy.next('dropReply');

    expect((await holdOf()).record).toMatchObject({ kind: 'inProgress', owner: 'lock-1', takeovers: 0 });
    expect(bench.proxy.requests()).toEqual(['POST', 'POST', 'GET', 'PUT']);
  });

  test('after a takeover leaves it ours, and counts it once', async () => {
    await holdOf(LAPSED_IN_MS);
    bench.proxy.next('pass', 'dropReply');

    expect(await ledger.claim(key, aClaimant({ owner: 'lock-2' }), LEASE_IN_MS, true)).toMatchObject({
      kind: 'run',
      hold: { record: { owner: 'lock-2', takeovers: 1 } },
    });
  });

  test('after an outcome is recognised by one read', async () => {
    const hold = await holdOf();
    bench.proxy.requests();
    bench.proxy.next('dropReply');

    const written = await ledger.record(hold, { kind: 'scheduled', attempt: 2, dueUtc: 0 });

    expect(written).toMatchObject({ kind: 'recorded', hold: { record: { kind: 'scheduled', attempt: 2 } } });
    expect(bench.proxy.requests()).toEqual(['PUT', 'PUT', 'GET']);
    expect(await ledger.record((written as { hold: Hold }).hold, { kind: 'completed' })).toMatchObject({
      kind: 'recorded',
    });
  });

  test('twice is reported, and the same call again goes on', async () => {
    const hold = await holdOf();
    bench.proxy.next('dropReply', 'dropReply');

    expect(await failureOf(ledger.record(hold, { kind: 'completed' }))).toMatchObject({ code: 'unavailable' });
    expect(await ledger.record(hold, { kind: 'completed' })).toMatchObject({ kind: 'recorded' });
  });
});

describe('a store that does not answer', () => {
  test('is given up after 5 s, and what it did carry out is found by asking again', async () => {
    const clock = patientClock();
    const slow = tableLedger(bench.store('ledger', clock));
    bench.proxy.next('pass', 'withholdReply');

    const failure = failureOf(slow.claim(key, aClaimant(), LEASE_IN_MS, false));
    await bench.proxy.withheld();
    clock.endPauses();

    expect(await failure).toEqual({
      name: 'LedgerError',
      code: 'unavailable',
      message: 'the ledger did not insert: no answer within 5000 ms',
      retryAfterInMs: undefined,
    });
    expect(await ledger.claim(key, aClaimant(), LEASE_IN_MS, false)).toMatchObject({ kind: 'run' });
  });

  test('is not left with the request open', async () => {
    const clock = patientClock();
    const failure = failureOf(tableLedger(bench.store('ledger', clock)).claim(key, aClaimant(), LEASE_IN_MS, true));
    bench.proxy.next('withholdReply');
    const before = bench.proxy.brokenOff();
    await bench.proxy.withheld();
    clock.endPauses();
    await failure;

    await expect.poll(() => bench.proxy.brokenOff()).toBe(before + 1);
  });

  test('changes nothing when it carries out later what was given up', async () => {
    const clock = patientClock();
    const slow = tableLedger(bench.store('ledger', clock));
    const hold = await holdOf(LAPSED_IN_MS);
    bench.proxy.next('pass', 'withholdRequest');
    const failure = failureOf(slow.record(hold, { kind: 'scheduled', attempt: 2, dueUtc: 0 }));
    const carryOut = await bench.proxy.withheld();
    clock.endPauses();
    await failure;
    await ledger.claim(key, aClaimant({ owner: 'lock-2' }), LEASE_IN_MS, true);

    await carryOut();

    expect(await ledger.claim(key, aClaimant({ owner: 'lock-2' }), LEASE_IN_MS, true)).toMatchObject({
      kind: 'run',
      hold: { record: { owner: 'lock-2', takeovers: 1 } },
    });
  });
});

describe('a refusal', () => {
  const date = 'Thu, 15 Jan 2026 12:00:00 GMT';
  test.each([
    [503, { 'retry-after': '2' }, 'throttled', 2_000],
    [429, { 'retry-after': '1' }, 'throttled', 1_000],
    [429, { 'retry-after': 'Thu, 15 Jan 2026 12:00:07 GMT', date }, 'throttled', 7_000],
    [429, {}, 'throttled', undefined],
    [500, {}, 'unavailable', undefined],
    [403, {}, 'forbidden', undefined],
    [401, {}, 'forbidden', undefined],
    [400, {}, 'unavailable', undefined],
  ])(
    'by %i with %o is reported at once as %s, to come back in %s ms',
    async (status, headers, code, retryAfterInMs) => {
      const refused = bench.store();
      await refused.serverTime();
      bench.proxy.requests();
      bench.proxy.next({ kind: 'answer', status, headers });

      expect(await failureOf(tableLedger(refused).claim(key, aClaimant(), LEASE_IN_MS, false))).toEqual({
        name: 'LedgerError',
        code,
        message: `the ledger did not insert: ${status}`,
        retryAfterInMs,
      });
      expect(bench.proxy.requests()).toEqual(['POST']);
    },
  );

  test('for want of a table is not taken for a record that is missing', async () => {
    const missing = tableLedger(bench.store('missing'));

    expect(await failureOf(missing.claim(key, aClaimant(), LEASE_IN_MS, true))).toMatchObject({
      code: 'unavailable',
      message: 'the ledger did not read: 404 TableNotFound',
    });
  });
});

describe('the time', () => {
  const busyFor = async (reader: Ledger) => {
    const claim = await reader.claim(key, aClaimant({ owner: 'lock-2' }), LEASE_IN_MS, true);
    return claim.kind === 'busy' ? claim.leaseEndsInMs : expect.fail(claim.kind);
  };

  test('is the store’s: a wall clock that is 10 minutes fast neither lengthens nor breaks a lease', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 600_000 });
    const fast = tableLedger(bench.store());
    const claim = await fast.claim(key, aClaimant(), LEASE_IN_MS, false);
    const { record } = (claim as { hold: Hold }).hold;
    const inMs = await busyFor(fast);
    vi.useRealTimers();

    expect(Math.abs(record.leaseEndUtc - (Date.now() + LEASE_IN_MS))).toBeLessThan(10_000);
    expect(Math.abs(inMs - LEASE_IN_MS)).toBeLessThan(10_000);
  });

  test('is the same to machines whose monotonic clocks began days apart', async () => {
    await holdOf();
    const { sleep } = systemClock;
    const other = bench.store('ledger', { sleep, monotonicInMs: () => systemClock.monotonicInMs() + 9e8 });

    expect(Math.abs((await busyFor(tableLedger(other))) - LEASE_IN_MS)).toBeLessThan(10_000);
  });
});

test('refuses to judge a record of a kind that only a newer build knows', async () => {
  const hold = await holdOf();
  const found = await store.table.listEntities<{ partitionKey: string; rowKey: string; eventId: string }>();
  for await (const { partitionKey, rowKey, eventId } of found) {
    if (eventId === key.eventId) await store.replace({ partitionKey, rowKey }, { kind: 'paused' }, hold.etag);
  }

  expect(await failureOf(ledger.claim(key, aClaimant(), LEASE_IN_MS, true))).toMatchObject({
    code: 'unavailable',
    message: 'the ledger holds a record of the unknown kind "paused"',
  });
});
