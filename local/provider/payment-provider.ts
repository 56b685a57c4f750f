import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a caller asks to be charged; `amount` in minor units, as the caller sends it. */
export interface ChargeRequest {
  readonly orderId: string;
  readonly amount: number;
  readonly currency: string;
}

/**
 * How one call is answered: an HTTP status, a status with a `Retry-After` header, `timeout` (never, until the client
 * goes away) or `reset` (the connection breaks).
 */
export type ProviderAnswer = number | { readonly status: number; readonly retryAfter?: string } | 'timeout' | 'reset';

/** The answers to the successive calls with one idempotency key; the last one repeats, none at all means `[200]`. */
export type ProviderScript = (idempotencyKey: string, charge: ChargeRequest) => readonly ProviderAnswer[];

/** One call that reached the provider with a well-formed request. */
export interface ProviderCall {
  readonly idempotencyKey: string;
  readonly charge: ChargeRequest;
  readonly answer: ProviderAnswer;
  /** The stored success of an earlier call was returned: nothing was charged by this one. */
  readonly replayed: boolean;
}

/** A running payment provider. `charges` and `calls` show what happened up to now, oldest first. */
export interface PaymentProvider {
  readonly port: number;
  /** Base address without a trailing slash; charges go to `POST <url>/charges`. */
  readonly url: string;
  /** How often each order was really charged, over all keys. Orders that were never charged are absent. */
  readonly charges: readonly { readonly orderId: string; readonly count: number }[];
  readonly calls: readonly ProviderCall[];
  /** Forgets all keys, as a provider does after a day or so: a repeat of an old one charges again. */
  expireKeys(): void;
  /** Breaks open connections, unanswered ones too, and frees the port. */
  stop(): Promise<void>;
}

/**
 * Starts a payment provider on 127.0.0.1 that behaves like the real ones where retries meet it: one key charges once.
 *
 * A repeat of a key with a stored result and the same body gets that result and the header `Idempotent-Replayed: true`,
 * whatever the script says; with another body 422.
 *
 * @param options.stores `successes`, the default, stores nothing of a failed call, so that a repeat may succeed; `all`
 * stores failures too, as some providers do, and a repeat of a failed key fails the same way until the key expires. What
 * was never answered is not stored.
 * @param options.port 0, the default, takes a free one.
 * @throws Error with one line when the port cannot be opened.
 */
export async function startPaymentProvider(
  options: { readonly script?: ProviderScript; readonly port?: number; readonly stores?: 'successes' | 'all' } = {},
): Promise<PaymentProvider> {
  const script = options.script ?? (() => []);
  const desk = new ChargeDesk(script, options.stores ?? 'successes');
  const server = createServer((request, response) => {
    answer(desk, request, response).catch((error: unknown) => send(response, 500, { error: String(error) }));
  });
  await listen(server, options.port ?? 0);
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    get charges() {
      return desk.charges();
    },
    get calls() {
      return [...desk.calls];
    },
    expireKeys: () => desk.expireKeys(),
    stop: () => close(server),
  };
}

/** Who was charged what, and what each key gets next. No sockets here. */
class ChargeDesk {
  readonly calls: ProviderCall[] = [];
  readonly #script: ProviderScript;
  readonly #answersGiven = new Map<string, number>();
  readonly #stores: 'successes' | 'all';
  readonly #stored = new Map<string, { readonly body: string; readonly answer: ProviderAnswer }>();
  readonly #charged: string[] = [];

  constructor(script: ProviderScript, stores: 'successes' | 'all') {
    this.#script = script;
    this.#stores = stores;
  }

  expireKeys(): void {
    this.#stored.clear();
  }

  call(idempotencyKey: string, charge: ChargeRequest): ProviderCall {
    const call = this.#decide(idempotencyKey, charge);
    this.calls.push(call);
    return call;
  }

  charges(): { orderId: string; count: number }[] {
    const counts = new Map<string, number>();
    for (const orderId of this.#charged) counts.set(orderId, (counts.get(orderId) ?? 0) + 1);
    return [...counts].map(([orderId, count]) => ({ orderId, count }));
  }

  #decide(idempotencyKey: string, charge: ChargeRequest): ProviderCall {
    const body = fingerprint(charge);
    const earlier = this.#stored.get(idempotencyKey);
    if (earlier) {
      const sameBody = earlier.body === body;
      return { idempotencyKey, charge, answer: sameBody ? earlier.answer : 422, replayed: sameBody };
    }
    const answers = this.#script(idempotencyKey, charge);
    const given = this.#answersGiven.get(idempotencyKey) ?? 0;
    this.#answersGiven.set(idempotencyKey, given + 1);
    const next = answers[Math.min(given, answers.length - 1)] ?? 200;
    if (isSuccess(next)) this.#charged.push(charge.orderId);
    if (isSuccess(next) || (this.#stores === 'all' && typeof next !== 'string')) {
      this.#stored.set(idempotencyKey, { body, answer: next });
    }
    return { idempotencyKey, charge, answer: next, replayed: false };
  }
}

async function answer(desk: ChargeDesk, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'POST' || request.url !== '/charges') return send(response, 404, { error: 'Not found.' });
  const idempotencyKey = request.headers['idempotency-key'];
  if (typeof idempotencyKey !== 'string' || idempotencyKey === '') {
    return send(response, 400, { error: 'The Idempotency-Key header is required.' });
  }
  const charge = parseCharge(await text(request));
  if (!charge)
    return send(response, 400, { error: 'Expected JSON {orderId: string, amount: number, currency: string}.' });
  const call = desk.call(idempotencyKey, charge);
  if (call.answer === 'timeout') return;
  if (call.answer === 'reset') {
    request.socket.resetAndDestroy();
    return;
  }
  const { status, retryAfter } = typeof call.answer === 'number' ? { status: call.answer } : call.answer;
  if (retryAfter !== undefined) response.setHeader('Retry-After', retryAfter);
  if (call.replayed) response.setHeader('Idempotent-Replayed', 'true');
  send(response, status, isSuccess(call.answer) ? { status: 'charged', ...charge } : { error: `Answered ${status}.` });
}

function isSuccess(answer: ProviderAnswer): boolean {
  if (typeof answer === 'string') return false;
  const status = typeof answer === 'number' ? answer : answer.status;
  return status >= 200 && status < 300;
}

function fingerprint({ orderId, amount, currency }: ChargeRequest): string {
  return JSON.stringify([orderId, amount, currency]);
}

function parseCharge(body: string): ChargeRequest | undefined {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { orderId, amount, currency } = value as Record<string, unknown>;
  const wellFormed = typeof orderId === 'string' && typeof amount === 'number' && typeof currency === 'string';
  return wellFormed ? { orderId, amount, currency } : undefined;
}

async function text(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function send(response: ServerResponse, status: number, body: object): void {
  if (response.headersSent) return;
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new Error(
          `The payment provider cannot listen on 127.0.0.1:${port} (${error.code}). What to do: stop what holds the port, or choose another one.`,
          { cause: error },
        ),
      ),
    );
    server.listen(port, '127.0.0.1', resolve);
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
