import { afterEach, expect, test } from 'vitest';
import {
  type PaymentProvider,
  type ProviderScript,
  startPaymentProvider,
} from '../../../local/provider/payment-provider.ts';

let provider: PaymentProvider;

afterEach(() => provider.stop());

const order = { orderId: 'A', amount: 1250, currency: 'EUR' };

async function start(script?: ProviderScript, stores?: 'successes' | 'all'): Promise<void> {
  provider = await startPaymentProvider({ ...(script ? { script } : {}), ...(stores ? { stores } : {}) });
}

function post(idempotencyKey: string | undefined, body: unknown, signal?: AbortSignal): Promise<Response> {
  return fetch(`${provider.url}/charges`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(idempotencyKey ? { 'Idempotency-Key': idempotencyKey } : {}) },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(signal ? { signal } : {}),
  });
}

test('charges an order when nothing else is scripted', async () => {
  await start();

  const response = await post('key', order);

  expect([response.status, await response.json()]).toEqual([200, { status: 'charged', ...order }]);
  expect(provider.charges).toEqual([{ orderId: 'A', count: 1 }]);
});

test('gives the scripted answers one by one and repeats the last', async () => {
  await start((key) => (key === 'one' ? [503, 500] : [200]));

  const statuses = [];
  for (const key of ['one', 'one', 'one', 'two']) statuses.push((await post(key, { ...order, orderId: key })).status);

  expect(statuses).toEqual([503, 500, 500, 200]);
  expect(provider.charges).toEqual([{ orderId: 'two', count: 1 }]);
});

test('that stores all results repeats a failure too, until the key expires', async () => {
  await start(() => [503, 200], 'all');

  const statuses = [];
  for (let n = 0; n < 3; n++) statuses.push((await post('key', order)).status);
  provider.expireKeys();
  statuses.push((await post('key', order)).status);

  expect(statuses).toEqual([503, 503, 503, 200]);
  expect(provider.charges).toEqual([{ orderId: 'A', count: 1 }]);
});

test('charges again for a key that has expired', async () => {
  await start();
  await post('key', order);
  provider.expireKeys();
  await post('key', order);

  expect(provider.charges).toEqual([{ orderId: 'A', count: 2 }]);
});

test('returns the stored success for a repeated key without charging again, and says so', async () => {
  await start(() => [503, 201, 500]);
  await post('key', order);

  const first = await post('key', order);
  const repeated = await post('key', order);

  expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([201, null]);
  expect([repeated.status, repeated.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
  expect(provider.charges).toEqual([{ orderId: 'A', count: 1 }]);
  expect(provider.calls.map(({ answer, replayed }) => ({ answer, replayed }))).toEqual([
    { answer: 503, replayed: false },
    { answer: 201, replayed: false },
    { answer: 201, replayed: true },
  ]);
});

test('refuses a charged key that comes back with another body', async () => {
  await start();
  await post('key', order);

  const response = await post('key', { ...order, amount: 1 });

  expect(response.status).toBe(422);
  expect(provider.charges).toEqual([{ orderId: 'A', count: 1 }]);
});

test('counts an order that two keys charged twice', async () => {
  await start();
  await post('one', order);
  await post('two', order);

  expect(provider.charges).toEqual([{ orderId: 'A', count: 2 }]);
});

test('charges once when calls with one key arrive together', async () => {
  await start();

  await Promise.all(Array.from({ length: 8 }, () => post('key', order)));

  expect(provider.charges).toEqual([{ orderId: 'A', count: 1 }]);
});

test('sends Retry-After where the script has it', async () => {
  await start(() => [{ status: 429, retryAfter: '2' }]);

  const response = await post('key', order);

  expect([response.status, response.headers.get('retry-after')]).toEqual([429, '2']);
});

test('never answers a timeout and charges nothing', async () => {
  await start(() => ['timeout', 200]);
  const client = new AbortController();

  const answered = post('key', order, client.signal);
  await expect.poll(() => provider.calls.length).toBe(1);
  client.abort();

  await expect(answered).rejects.toThrow('aborted');
  expect(provider.charges).toEqual([]);
  expect((await post('key', order)).status).toBe(200);
});

test('stops with a call still unanswered', async () => {
  await start(() => ['timeout']);
  const answered = post('key', order);
  const failed = expect(answered).rejects.toThrow();
  await expect.poll(() => provider.calls.length).toBe(1);

  await provider.stop();

  await failed;
});

test('breaks the connection on a reset', async () => {
  await start(() => ['reset']);

  await expect(post('key', order)).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } });
  expect(provider.charges).toEqual([]);
});

test.each([
  ['without an idempotency key', undefined, order, 400],
  ['with a body that is not JSON', 'key', '{', 400],
  ['with a field missing', 'key', { orderId: 'A', amount: 1 }, 400],
])('refuses a call %s', async (_, key, body, status) => {
  await start();

  expect((await post(key, body)).status).toBe(status);
  expect(provider.calls).toEqual([]);
});

test('knows no other resource', async () => {
  await start();

  expect((await fetch(`${provider.url}/charges`)).status).toBe(404);
});

test('names the port it cannot have', async () => {
  await start();

  await expect(startPaymentProvider({ port: provider.port })).rejects.toThrow(
    `The payment provider cannot listen on 127.0.0.1:${provider.port} (EADDRINUSE).`,
  );
});
