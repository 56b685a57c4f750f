import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { type Azurite, startAzurite } from '../../local/azurite.ts';
import { anOrder, FAST_POLICY } from './support/orders.ts';
import { project } from './support/project.ts';
import { aStage } from './support/stage.ts';
import { type Target, targetFrom } from './support/target.ts';
import { aTheatre } from './support/theatre.ts';

// What `npm run test:emulator` does with the official emulator: here with our own broker in a process of its own.
describe('against a Service Bus and a Table Storage that are reached by their connection strings alone', () => {
  let target: Target;

  beforeAll(async () => {
    const azurite: Azurite = await startAzurite();
    const broker = await aBrokerProcess();
    target = targetFrom({
      SERVICEBUS_CONNECTION_STRING: broker.connectionString,
      SERVICEBUS_MANAGEMENT_CONNECTION_STRING: broker.managementConnectionString,
      LEDGER_STORAGE: azurite.connectionString,
    });
    return async () => {
      await broker.stop();
      await azurite.stop();
    };
  });

  test('a story runs on a queue that it makes there', async () => {
    const theatre = await aTheatre(target);
    onTestFinished(() => theatre.stop());
    const story = await theatre.story('by-address');
    await story.startHost();
    await story.send({
      good: [[['charge']]],
      recovers: [[['failTransient']], [['charge']]],
      bad: [[['failPermanent']]],
    });

    const { runs } = await story.end({ bad: 'NotEver' });

    expect(runs).toBe(4);
    expect(() => theatre.broker).toThrow('the test must say what it needs');
  });

  test('the app runs on the entities of the project, which each test finds empty', async () => {
    for (const name of ['one', 'two']) {
      const stage = await aStage(inject('builtApp'), FAST_POLICY, target);
      try {
        expect(await stage.messages()).toEqual([]);
        expect(await stage.deadLetters()).toEqual([]);
        await stage.sendTo('orders', anOrder(name, [200]), { ...anOrder('bad'), body: {} });
        await stage.send(anOrder('left behind', [503]));
        await stage.startHost({ RETRY__ORDER_PLACED__BASE_DELAY_IN_MS: '120000' });
        await stage.until(name, 'succeeded');
        await stage.until('bad', 'dead-lettered');
        await stage.until('left behind', 'redelivered');
      } finally {
        await stage.stop();
      }
    }
  });
});

test('without variables the target is what npm run emulator:up starts', () => {
  expect(targetFrom({})).toEqual({
    serviceBus: expect.stringContaining('sb://localhost:5672;'),
    administration: expect.stringContaining('sb://localhost:5300;'),
    storage: 'UseDevelopmentStorage=true',
  });
});

/** `npm run broker`, on free ports. */
async function aBrokerProcess() {
  const child = spawn(process.execPath, ['local/broker/main.ts', '--port', '0', '--admin-port', '0'], {
    cwd: project,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const connectionString = String((await lines.next()).value);
  const managementPort = String((await lines.next()).value)
    .split(':')
    .at(-1);
  return {
    connectionString,
    managementConnectionString: connectionString.replace(/:\d+;/, `:${managementPort};`),
    stop: async () => void child.kill(),
  };
}
