import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { startStack } from '../../local/stack.ts';
import { takeStock } from '../helpers/leftovers.ts';
import { removeFolder } from '../helpers/temporary-folder.ts';
import { anApp } from './support/an-app.ts';
import { anOrder } from './support/orders.ts';
import { aStage, type Stage } from './support/stage.ts';

const aListener = (): Promise<Server> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => resolve(server));
  });

const portOf = (server: Server): number => (server.address() as { port: number }).port;

const close = (server: Server) => new Promise((resolve) => server.close(resolve));

/** Why something did not start. */
const refusalOf = (starting: Promise<unknown>): Promise<string> =>
  starting.then(
    () => 'it started',
    (error: Error) => error.message,
  );

describe('the app refuses to start', () => {
  let stage: Stage;
  let deadPort: number;

  beforeAll(async () => {
    stage = await aStage(inject('builtApp'));
    await stage.send(anOrder('untouched'));
    const listener = await aListener();
    deadPort = portOf(listener);
    await close(listener);
  });

  afterAll(() => stage?.stop());

  /** Starts the app with these settings; whatever comes of it, no message may be touched and nothing may run on. */
  async function refusalWith(changed: Readonly<Record<string, string | undefined>>): Promise<string[]> {
    const expectNothingLeft = takeStock();
    const refusal = await refusalOf(stage.startHost(changed));
    await expectNothingLeft();
    const messages = await stage.messages();
    expect(messages.map(({ messageId, state, deliveryCount }) => [messageId, state, deliveryCount])).toEqual([
      ['untouched', 'active', 0],
    ]);
    expect([stage.reports, stage.invocations]).toEqual([[], []]);
    return refusal.split('\n');
  }

  test('on bad, unknown and missing settings, and names every one of them at once', async () => {
    const refusal = await refusalWith({
      RETRY__ORDER_PLACED__ATTEMPTS: '0',
      RETRY__ORDER_PLACED__JITTER: 'some',
      RETRY__ORDER_PLACED__ATEMPTS: '3',
      RETRY__ORDER_SHIPPED__TRIES: '2',
      ServiceBusConnection: undefined,
      LedgerStorage: undefined,
      PAYMENTS_URL: 'ftp://payments',
    });

    expect(refusal).toEqual([
      'The app refuses to start, no message was touched:',
      '  - RETRY__ORDER_PLACED__ATEMPTS: no such setting; expected RETRY__<EVENT>__<FIELD> with an event of order-placed',
      '  - RETRY__ORDER_SHIPPED__TRIES: no such setting; expected RETRY__<EVENT>__<FIELD> with an event of order-placed',
      '  - PAYMENTS_URL: expected an http or https address (for order-placed)',
      '  - RETRY__ORDER_PLACED__ATTEMPTS: Too small: expected number to be >=1; got "0"',
      '  - RETRY__ORDER_PLACED__JITTER: Invalid option: expected one of "none"|"full"|"equal"|"decorrelated"; got "some"',
      '  - ServiceBusConnection: expected a connection string, or ServiceBusConnection__fullyQualifiedNamespace for an identity; got neither',
      '  - LedgerStorage: expected a connection string, or LedgerStorage__tableServiceUri or LedgerStorage__accountName for an identity; got none',
    ]);
  });

  test('on settings that contradict each other, and names every contradiction at once', async () => {
    const refusal = await refusalWith({
      RETRY__ORDER_PLACED__HANDLER_TIMEOUT_IN_MS: '450000',
      RETRY__ORDER_PLACED__WINDOW_IN_MS: '7200000',
      RETRY__ORDER_PLACED__CURVE: 'list',
    });

    expect(refusal).toEqual([
      'The app refuses to start, no message was touched:',
      '  - policy of order-placed: handlerTimeoutInMs 450000 must be at most 415000: functionTimeout (420000) and maxAutoLockRenewalDuration (450000), less 5000 to settle',
      '  - policy of order-placed: curve list needs delaysInMs',
      "  - policy of order-placed: windowInMs 7200000 must be at most the queue's timeToLiveInMs 3600000: a copy must not expire inside its retry window",
    ]);
  });

  test('on a broker and a ledger out of reach, and names both', async () => {
    const refusal = await refusalWith({
      ServiceBusConnection: stage.broker.connectionString.replace(/:\d+;/, `:${deadPort};`),
      LedgerStorage: stage.tables.connectionString.replace(/:\d+\//, `:${deadPort}/`),
    });

    expect(refusal).toEqual([
      'The app refuses to start, no message was touched:',
      `  - sending to billing-order-placed: GeneralError: ECONNREFUSED: connect ECONNREFUSED 127.0.0.1:${deadPort}`,
      '  - ledger table "ledger": the ledger did not insert: ECONNREFUSED',
    ]);
  });

  test('on a ledger out of reach alone', async () => {
    const refusal = await refusalWith({
      LedgerStorage: stage.tables.connectionString.replace(/:\d+\//, `:${deadPort}/`),
    });

    expect(refusal).toEqual([
      'The app refuses to start, no message was touched:',
      '  - ledger table "ledger": the ledger did not insert: ECONNREFUSED',
    ]);
  });
});

test('the app refuses to start on a queue that is not there', async () => {
  const app = await anApp({
    'local/entities.json': ({ UserConfig }) => {
      const [{ Queues, Topics }] = UserConfig.Namespaces;
      Queues[0].Name = 'another-queue';
      Topics[0].Subscriptions[0].Properties['ForwardTo'] = 'another-queue';
    },
  });
  onTestFinished(() => removeFolder(app));
  const stage = await aStage(app);
  onTestFinished(() => stage.stop());
  const expectNothingLeft = takeStock();

  const refusal = await refusalOf(stage.startHost());

  expect(refusal.split('\n')).toEqual([
    'The app refuses to start, no message was touched:',
    "  - sending to billing-order-placed: MessagingEntityNotFound: The messaging entity 'billing-order-placed' could not be found.",
  ]);
  await expectNothingLeft();
});

describe('the stack', () => {
  test.each([
    ['broker', /^The broker cannot listen on 127\.0\.0\.1:\d+: the port is taken\. What to do: /],
    ['table', /^Azurite did not start on 127\.0\.0\.1:\d+: it ended with exit code 1\. Its last output: .*EADDRINUSE/s],
    ['provider', /^The payment provider cannot listen on 127\.0\.0\.1:\d+ \(EADDRINUSE\)\. What to do: /],
  ] as const)('stops everything with a clear error where the port of the %s is taken', async (part, line) => {
    const expectNothingLeft = takeStock();
    const listener = await aListener();
    const options = { project: inject('builtApp'), onLog: () => undefined };

    const refusal = await refusalOf(startStack({ ...options, ports: { [part]: portOf(listener) } }));
    await close(listener);

    expect(refusal).toMatch(line);
    await expectNothingLeft();
  });

  test('stops everything with the message of an app that refuses to start', async () => {
    const expectNothingLeft = takeStock();
    const settings = { RETRY__ORDER_PLACED__TRIES: '0' };

    const refusal = await refusalOf(startStack({ project: inject('builtApp'), settings, onLog: () => undefined }));

    expect(refusal.split('\n')).toEqual([
      'The app refuses to start, no message was touched:',
      '  - RETRY__ORDER_PLACED__TRIES: Too small: expected number to be >=1; got "0"',
    ]);
    await expectNothingLeft();
  });
});
