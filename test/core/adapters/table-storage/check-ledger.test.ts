import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { checkLedger } from '../../../../functions/core/adapters/table-storage/check-ledger.ts';
import { startTableBench } from './table-bench.ts';

let bench: Awaited<ReturnType<typeof startTableBench>>;
beforeAll(async () => {
  bench = await startTableBench();
  await checkLedger(bench.store());
});
afterAll(() => bench?.stop());
beforeEach(() => void bench.proxy.requests());

const failureOf = (call: Promise<unknown>) =>
  call.then(
    () => expect.fail('it succeeded'),
    ({ name, code, message }) => ({ name, code, message }),
  );

test('creates the table where it is missing', async () => {
  await checkLedger(bench.store('fresh'));

  expect(bench.proxy.requests()).toEqual(['POST', 'POST', 'POST', 'GET', 'PUT', 'PUT', 'DELETE']);
  await checkLedger(bench.store('fresh'));
  expect(bench.proxy.requests()).toEqual(['POST', 'GET', 'PUT', 'PUT', 'DELETE']);
});

test('leaves nothing behind, though several instances start at once', async () => {
  const stores = Array.from({ length: 5 }, () => bench.store('crowd'));

  await Promise.all(stores.map(checkLedger));

  const left = [];
  for await (const entity of bench.store('crowd').table.listEntities()) left.push(entity);
  expect(left).toEqual([]);
});

test('knows the store’s time, so that the first claim needs no operation for it', async () => {
  const store = bench.store();
  await checkLedger(store);
  bench.proxy.requests();

  await store.serverTime();

  expect(bench.proxy.requests()).toEqual([]);
});

test('says which table, what was refused and what is needed, where rights are missing', async () => {
  bench.proxy.next({ kind: 'answer', status: 403 });

  expect(await failureOf(checkLedger(bench.store()))).toEqual({
    name: 'LedgerError',
    code: 'forbidden',
    message:
      'ledger table "ledger": the ledger did not insert: 403. The identity needs the role ' +
      'Storage Table Data Contributor on the table, or a valid connection string',
  });
});

test('refuses a store that lets a stale version overwrite', async () => {
  bench.proxy.next(
    { kind: 'pass' },
    { kind: 'pass' },
    { kind: 'pass' },
    { kind: 'answer', status: 204, headers: { etag: 'W/"any"' } },
  );

  expect(await failureOf(checkLedger(bench.store()))).toMatchObject({
    code: 'unavailable',
    message: 'ledger table "ledger": the ledger does not fence writes by their ETag',
  });
});

test('says what is wrong where nothing listens', async () => {
  const gone = await startTableBench();
  const store = gone.store();
  await gone.stop();

  expect(await failureOf(checkLedger(store))).toEqual({
    name: 'LedgerError',
    code: 'unavailable',
    message: 'ledger table "ledger": the ledger did not insert: ECONNREFUSED',
  });
});
