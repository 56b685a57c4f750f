import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { METRICS } from '../../../../functions/core/adapters/telemetry/instruments.ts';
import { string } from '../../../../functions/core/rules/delivery.ts';
import { PermanentError, TransientError } from '../../../../functions/core/rules/errors.ts';
import type { HandlerContext } from '../../../../functions/core/rules/handler.ts';
import { first } from '../../../fakes/faults.ts';
import { aDelivery, anOrigin, CONSUMER } from '../../../fixtures/deliveries.ts';
import { retryRatio } from '../../../telemetry/retry-ratio.ts';
import { aWatchedConsumer, type Point, type WatchedConsumer } from './a-watched-consumer.ts';

/** A's provider recovers, B can never succeed, C's provider stays down; anything else succeeds. */
const byEvent = async ({ eventId, attempt }: HandlerContext): Promise<void> => {
  if (eventId.startsWith('A') && attempt < 3) throw new TransientError('down');
  if (eventId.startsWith('B')) throw new PermanentError('UnsupportedCurrency', `order ${eventId} is in XXX`);
  if (eventId.startsWith('C')) throw new TransientError('down');
};

const message = (messageId: string, sequenceNumber = '7') => aDelivery({ messageId, sequenceNumber });

async function theThree(lateInMs = 0): Promise<WatchedConsumer> {
  const consumer = aWatchedConsumer(byEvent);
  for (const id of ['A', 'B', 'C']) await consumer.deliverAll(message(id), lateInMs);
  return consumer;
}

/** The values of one metric. */
const of = async (consumer: WatchedConsumer, { name }: { readonly name: string }) =>
  (await consumer.points()).filter((point) => point.name === name).map(({ name: _name, unit: _unit, ...rest }) => rest);

const ours = { 'redelivery.consumer': CONSUMER };

describe('of an event that recovers, one that cannot succeed and one whose provider stays down', () => {
  test('the deliveries are counted by what became of them', async () => {
    expect(await of(await theThree(), METRICS.deliveries)).toEqual([
      { attributes: { ...ours, 'redelivery.outcome': 'redelivered' }, value: 5 },
      { attributes: { ...ours, 'redelivery.outcome': 'succeeded' }, value: 1 },
      { attributes: { ...ours, 'redelivery.outcome': 'dead-lettered' }, value: 2 },
    ]);
  });

  test('the copies are counted by the attempt that they carry', async () => {
    expect(await of(await theThree(), METRICS.redeliveries)).toEqual([
      { attributes: { ...ours, 'redelivery.attempt': 2 }, value: 2 },
      { attributes: { ...ours, 'redelivery.attempt': 3 }, value: 2 },
      { attributes: { ...ours, 'redelivery.attempt': 4 }, value: 1 },
    ]);
  });

  test('the dead letters are counted by their reason', async () => {
    expect(await of(await theThree(), METRICS.deadLetters)).toEqual([
      { attributes: { ...ours, 'redelivery.reason': 'UnsupportedCurrency' }, value: 1 },
      { attributes: { ...ours, 'redelivery.reason': 'AttemptsExhausted' }, value: 1 },
    ]);
  });

  test('planned and actual delays differ by how late each copy comes', async () => {
    const consumer = await theThree(500);
    // A waits 1 and 2 s, C 1, 2 and 4 s.
    expect(await of(consumer, METRICS.plannedDelay)).toEqual([{ attributes: ours, value: 10, count: 5 }]);
    expect(await of(consumer, METRICS.actualDelay)).toEqual([{ attributes: ours, value: 12.5, count: 5 }]);
  });

  test('the retry ratio, by the formula of the alert, is 5 of 8', async () => {
    expect(retryRatio(await (await theThree()).points())).toEqual({ attempts: 8, retryRatio: 5 / 8 });
  });

  test('the time from the first enqueue to the end is measured once an event', async () => {
    const consumer = aWatchedConsumer(byEvent);
    await consumer.deliverAll(message('A'));

    expect(await of(consumer, METRICS.eventDuration)).toEqual([
      { attributes: { ...ours, 'redelivery.outcome': 'succeeded' }, value: 3, count: 1 },
    ]);
  });
});

test('a duplicate counts as one, and its claim as answered so', async () => {
  const consumer = aWatchedConsumer(byEvent);
  await consumer.deliver(message('D'));
  await consumer.deliver(message('D'));

  expect(await of(consumer, METRICS.duplicates)).toEqual([
    { attributes: { ...ours, 'redelivery.outcome': 'duplicate' }, value: 1 },
  ]);
  expect(
    (await of(consumer, METRICS.ledgerDuration)).map(({ attributes, count }) => [
      attributes['redelivery.ledger.operation'],
      attributes['redelivery.ledger.result'],
      count,
    ]),
  ).toEqual([
    ['claim', 'run', 1],
    ['record', 'recorded', 1],
    ['claim', 'duplicate', 1],
  ]);
});

test('a copy that comes after its event has gone further is stale, and no duplicate', async () => {
  const consumer = aWatchedConsumer(byEvent);
  const [first, second] = [message('C'), aDelivery({ attempt: 2, messageId: 'C', sequenceNumber: '8' })];
  await consumer.deliverAll(first);
  await consumer.deliver({ ...second, properties: new Map(second.properties).set('retry-event-id', string('C')) });

  expect(await of(consumer, METRICS.duplicates)).toEqual([
    { attributes: { ...ours, 'redelivery.outcome': 'stale' }, value: 1 },
  ]);
});

test('a crash is counted by the delivery that takes over, whose outcome is the only one', async () => {
  const consumer = aWatchedConsumer(byEvent);
  await consumer.deliverAndDie(message('D'));
  await consumer.deliverAgain(message('D'));

  expect(await of(consumer, METRICS.takeovers)).toEqual([{ attributes: ours, value: 1 }]);
  expect(await of(consumer, METRICS.deliveries)).toEqual([
    { attributes: { ...ours, 'redelivery.outcome': 'succeeded' }, value: 1 },
  ]);
  expect((await of(consumer, METRICS.consumed)).map(({ value }) => value)).toEqual([2]);
});

test('an event that a sweep finds stranded is counted by where it stands', async () => {
  const consumer = aWatchedConsumer(byEvent);
  for (const kind of ['scheduled', 'unsent', 'scheduled'] as const) consumer.strand(kind);

  expect(await of(consumer, METRICS.stranded)).toEqual([
    { attributes: { ...ours, 'redelivery.ledger.record': 'scheduled' }, value: 2 },
    { attributes: { ...ours, 'redelivery.ledger.record': 'unsent' }, value: 1 },
  ]);
});

test('a deferral is counted by its cause', async () => {
  const consumer = aWatchedConsumer(byEvent);
  const key = { consumer: CONSUMER, eventId: 'D' };
  await consumer.ledger.claim(key, { generation: 0, attempt: 1, origin: anOrigin(), owner: 'other' }, 30_000, false);
  await consumer.deliver(message('D'));

  expect(await of(consumer, METRICS.deferrals)).toEqual([
    { attributes: { ...ours, 'redelivery.cause': 'busy elsewhere' }, value: 1 },
  ]);
});

test('a settlement whose lock is gone is counted as both', async () => {
  const consumer = aWatchedConsumer(byEvent, first(1, new Error('13 INTERNAL: ... (MessageLockLost)')));
  await consumer.deliver(message('D'));

  expect(await of(consumer, METRICS.locksLost)).toEqual([{ attributes: ours, value: 1 }]);
  expect(await of(consumer, METRICS.settlementFailures)).toEqual([
    {
      attributes: {
        ...ours,
        'azure.servicebus.disposition_status': 'complete',
        'error.type': 'MessageLockLost',
      },
      value: 1,
    },
  ]);
});

test('a reason that is a sentence is no reason on a metric', async () => {
  const consumer = aWatchedConsumer(() => Promise.reject(new PermanentError('order 17 is bad', 'no')));
  await consumer.deliver(message('D'));

  expect(await of(consumer, METRICS.deadLetters)).toEqual([
    { attributes: { ...ours, 'redelivery.reason': '_OTHER' }, value: 1 },
  ]);
});

test('codes that a handler makes from ids are bounded, and never hide a reason of our own', async () => {
  const consumer = aWatchedConsumer(async ({ eventId }) => {
    if (eventId.startsWith('C')) throw new TransientError('down');
    throw new PermanentError(`Bad${eventId}`, 'no');
  });
  for (let event = 0; event < 150; event++) await consumer.deliver(message(`X${event}`, String(1_000 + event)));
  await consumer.deliverAll(message('C'));

  const reasons = (await of(consumer, METRICS.deadLetters)).map(({ attributes, value }) => [
    attributes['redelivery.reason'],
    value,
  ]);
  expect(reasons).toHaveLength(102);
  expect(reasons).toContainEqual(['_OTHER', 50]);
  expect(reasons).toContainEqual(['AttemptsExhausted', 1]);
});

describe('every metric', () => {
  /** Everything that can be seen, of so many events of each kind. */
  async function all(events: number): Promise<readonly Point[]> {
    const consumer = aWatchedConsumer(byEvent, first(1, new Error('MessageLockLost')));
    for (let event = 0; event < events; event++) {
      for (const id of ['A', 'B', 'C', 'D']) await consumer.deliverAll(message(`${id}${event}`, String(1_000 + event)));
      await consumer.deliver(message(`D${event}`, String(1_000 + event)));
      const key = { consumer: CONSUMER, eventId: `E${event}` };
      const claimant = { generation: 0, attempt: 1, origin: anOrigin(), owner: 'other' };
      await consumer.ledger.claim(key, claimant, 30_000, false);
      await consumer.deliver(message(`E${event}`, String(1_000 + event)));
    }
    await consumer.deliverAndDie(message('F'));
    await consumer.deliverAgain(message('F'));
    consumer.strand('scheduled');
    return consumer.points();
  }
  const tables = Object.values(METRICS);

  test('of the table is written, by its name, in its unit and with its attributes alone', async () => {
    const points = await all(1);
    expect([...new Set(points.map(({ name }) => name))].sort()).toEqual(tables.map(({ name }) => name).sort());
    for (const { name, unit, attributes } of points) {
      const table = tables.find((each) => each.name === name);
      expect(unit, name).toBe(table?.unit);
      const known: readonly string[] = table?.attributes ?? [];
      const stray = Object.keys(attributes).filter((key) => !known.includes(key));
      expect(stray, name).toEqual([]);
    }
  });

  test('has no more series after 30 events than after 2: none carries an id', async () => {
    const series = (points: readonly Point[]) =>
      points.map(({ name, attributes }) => JSON.stringify([name, Object.entries(attributes).sort()])).sort();
    expect(series(await all(30))).toEqual(series(await all(2)));
  });

  test('that alerts and workbook read is in the table as they expect it', () => {
    const path = join(import.meta.dirname, '../../../../infra/queries/telemetry.json');
    const { metrics } = JSON.parse(readFileSync(path, 'utf8'));
    const ourTable = Object.fromEntries(
      tables
        .filter(({ name }) => name in metrics)
        .map(({ name, kind, unit, attributes }) => [name, { kind, unit, attributes }]),
    );
    expect(ourTable).toEqual(metrics);
  });
});
