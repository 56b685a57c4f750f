import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData, status } from '@grpc/grpc-js';
import rhea from 'rhea';
import { describe, expect, onTestFinished, test } from 'vitest';
import { hostSettlement } from '../../../../functions/core/adapters/service-bus/host-settlement.ts';
import { hostAddress, settlementService } from '../../../../functions/core/adapters/service-bus/settlement-service.ts';
import type { DeadLetter } from '../../../../functions/core/rules/dead-letter.ts';
import { int, string } from '../../../../functions/core/rules/delivery.ts';
import { decodeAmqpMap } from '../../../../local/host/settlement/amqp-map.ts';
import { SETTLEMENT_SERVICE } from '../../../../local/host/settlement/contract.ts';
import { aDelivery } from '../../../fixtures/deliveries.ts';

interface Refusal {
  readonly code: number;
  readonly details: string;
}

type Call = readonly [method: string, request: object];

/** A host that keeps what it is told, by its own declaration of the service, until the test ends. */
async function aHost(refusal?: Refusal, options: Parameters<typeof hostSettlement>[1] = {}) {
  const calls: Call[] = [];
  const unary = (method: string) => (call: ServerUnaryCall<object, object>, reply: sendUnaryData<object>) => {
    calls.push([method, call.request]);
    if (refusal) reply(refusal);
    else reply(null, { lockedUntil: { seconds: 1_700_000_000 } });
  };
  const server = new Server();
  server.addService(
    SETTLEMENT_SERVICE,
    Object.fromEntries(Object.keys(SETTLEMENT_SERVICE).map((method) => [method, unary(method)])),
  );
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  onTestFinished(() => server.forceShutdown());
  const settlement = hostSettlement(
    settlementService(['node', 'worker.js', '--functions-uri', `http://127.0.0.1:${port}/`]),
    options,
  );
  return { settlement, calls };
}

const delivery = aDelivery({ lockToken: '00112233-4455-6677-8899-aabbccddeeff' });
const locktoken = delivery.lockToken;

test.each([
  ['complete', 'Complete'],
  ['abandon', 'Abandon'],
  ['renewLock', 'RenewMessageLock'],
] as const)('%s tells the host which lock it is about, and nothing else', async (name, method) => {
  const { settlement, calls } = await aHost();

  await settlement[name](delivery);

  expect(calls).toEqual([[method, { locktoken }]]);
});

test('renewLock on a session queue renews the lock on the session: its messages have none of their own', async () => {
  const { calls, settlement } = await aHost(undefined, { sessions: true });

  await settlement.renewLock(aDelivery({ sessionId: 'order-7' }));

  expect(calls).toEqual([['RenewSessionLock', { sessionId: 'order-7' }]]);
});

describe('a dead letter', () => {
  const letter = (changes: Partial<DeadLetter> = {}): DeadLetter => ({
    reason: 'AttemptsExhausted',
    description: 'attempt 4 of 4, größer 😀',
    properties: new Map([
      ['retry-error-code', string('HTTP 503')],
      ['retry-history', string('x'.repeat(4_000))],
      ['replay-count', int(2)],
    ]),
    ...changes,
  });

  test('arrives with its reason, description and properties, and their types', async () => {
    const { settlement, calls } = await aHost();

    await settlement.deadLetter(delivery, letter());

    const [[method, request] = []] = calls as [string, { propertiesToModify: Uint8Array }][];
    expect([
      method,
      { ...request, propertiesToModify: decodeAmqpMap(request?.propertiesToModify ?? Buffer.alloc(0)) },
    ]).toEqual([
      'Deadletter',
      {
        locktoken,
        deadletterReason: { value: 'AttemptsExhausted' },
        deadletterErrorDescription: { value: 'attempt 4 of 4, größer 😀' },
        propertiesToModify: {
          'retry-error-code': rhea.types.wrap_string('HTTP 503'),
          'retry-history': rhea.types.wrap_string('x'.repeat(4_000)),
          'replay-count': expect.objectContaining({ type: expect.objectContaining({ name: 'Int' }), value: 2 }),
        },
      },
    ]);
  });

  test('without properties sends no bytes for them, which means none', async () => {
    const { settlement, calls } = await aHost();

    await settlement.deadLetter(delivery, letter({ properties: new Map() }));

    expect(calls).toEqual([['Deadletter', expect.objectContaining({ propertiesToModify: Buffer.alloc(0) })]]);
  });

  test('with a property of a type that this consumer never writes is refused before the host hears of it', async () => {
    const { settlement, calls } = await aHost();
    const properties = new Map([['own', { type: 'long', value: 1n } as const]]);

    await expect(settlement.deadLetter(delivery, letter({ properties }))).rejects.toThrow(
      'this consumer writes int and string properties only, got long',
    );
    expect(calls).toEqual([]);
  });
});

test.each([
  [status.FAILED_PRECONDITION, 'LockToken 1 not found.'],
  [status.UNKNOWN, 'Azure.Messaging.ServiceBus.ServiceBusException: the lock is lost (MessageLockLost)'],
])('rejects with the status and the text of the host: %i %s', async (code, details) => {
  const { settlement } = await aHost({ code, details });

  for (const call of [
    () => settlement.complete(delivery),
    () => settlement.abandon(delivery),
    () => settlement.renewLock(delivery),
    () => settlement.deadLetter(delivery, { reason: 'R', description: '', properties: new Map() }),
  ]) {
    await expect(call()).rejects.toMatchObject({ code, details });
  }
});

describe('the address of the host', () => {
  test.each([
    [['node', 'worker.js', '--functions-uri', 'http://127.0.0.1:7071/'], '127.0.0.1:7071'],
    [['--functions-uri=http://127.0.0.1:7071/'], '127.0.0.1:7071'],
    [['--host', '127.0.0.1', '--port', '7071'], '127.0.0.1:7071'],
    [['--host=localhost', '--port=7071'], 'localhost:7071'],
    [['--host', '10.0.0.1', '--port', '1', '--functions-uri', 'http://127.0.0.1:7071/'], '127.0.0.1:7071'],
    [['--functions-uri', 'http://[::1]:7071/', '--functions-grpc-max-message-length', '1'], '[::1]:7071'],
    [['--functions-uri', 'http://localhost/'], 'localhost:80'],
    [['--functions-uri', 'https://localhost/'], 'localhost:443'],
  ])('is read from %j', (args, address) => {
    expect(hostAddress(args)).toBe(address);
  });

  test.each([
    [[]],
    [['--host', '127.0.0.1']],
    [['--port', '7071']],
    [['--functions-uri', 'nonsense']],
    [['--functions-uri']],
  ])('is missed in one line in %j', (args) => {
    expect(() => hostAddress(args)).toThrow(
      new Error(
        "The worker's arguments do not tell the host's address: expected --functions-uri, or --host and --port. What to do: run this app in a Functions host.",
      ),
    );
  });
});
