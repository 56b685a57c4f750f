import { describe, expect, test } from 'vitest';
import { SendError } from '../../../functions/core/pipeline/ports.ts';
import { TransientError } from '../../../functions/core/rules/errors.ts';
import { always, first, losesFirstReply } from '../../fakes/faults.ts';
import { aDelivery, ENQUEUED_UTC } from '../../fixtures/deliveries.ts';
import { aStage, BUDGET_IN_MS, lockToken } from './a-stage.ts';

const handle = () => Promise.reject(new TransientError('the provider is down', { code: 'HTTP 503' }));
const down = new SendError('unavailable', 'the broker is down');

test('tries a copy again in place until the broker accepts it', async () => {
  const stage = aStage({ handle, faults: { send: first(2, down) } });

  const { outcome } = await stage.deliver();

  expect(outcome).toBe('redelivered');
  expect(stage.journal.timeline()).toEqual([
    '0 s claim',
    '0 s handle attempt 1 try 1',
    '0 s send attempt 2: fails',
    '0.25 s send attempt 2: fails',
    '0.75 s send attempt 2',
    '0.75 s record scheduled 2',
    '0.75 s complete',
  ]);
});

// Field case B2.
test('sends a copy again whose acceptance it has not heard of, and it is the same copy', async () => {
  const stage = aStage({ handle, faults: { send: losesFirstReply(down) } });

  await stage.deliver();

  expect(stage.journal.steps()).toEqual([
    'claim',
    'handle attempt 1 try 1',
    'send attempt 2: reply lost',
    'send attempt 2',
    'record scheduled 2',
    'complete',
  ]);
  expect(stage.sender.accepted.size).toBe(1);
});

describe('a copy that cannot be sent while the lock holds', () => {
  // Field case D2.
  test('is recorded as unsent, and the original stays unsettled', async () => {
    const stage = aStage({ handle, faults: { send: always(down) } });

    const report = await stage.deliver();

    expect(report).toMatchObject({ outcome: 'left', reason: 'copy unsent: the broker is down', tries: 1 });
    expect(new Set(stage.journal.steps())).toEqual(
      new Set(['claim', 'handle attempt 1 try 1', 'send attempt 2: fails', 'record unsent 2']),
    );
    expect(stage.journal.steps().at(-1)).toBe('record unsent 2');
    expect(stage.settlement.settled.size).toBe(0);
    expect(stage.record()).toMatchObject({ kind: 'unsent', attempt: 2 });
    // Five seconds of the lock are kept for the record.
    expect(report.durationInMs).toBe(BUDGET_IN_MS - 5_000);
  });

  test('is sent by the next delivery, which does not run the handler again', async () => {
    let isDown = true;
    const stage = aStage({ handle, faults: { send: () => (isDown ? { kind: 'fails', error: down } : undefined) } });
    await stage.deliver();
    const before = stage.journal.steps().length;
    isDown = false;

    const report = await stage.deliver(aDelivery({ lockToken: lockToken(2), deliveryCount: 2 }));

    expect(report).toMatchObject({ outcome: 'redelivered', attempt: 1, tries: 0, reason: 'HTTP 503', delayInMs: 0 });
    expect(stage.journal.steps().slice(before)).toEqual(['claim', 'send attempt 2', 'record scheduled 2', 'complete']);
    expect([...stage.sender.accepted.values()].map(({ dueUtc }) => dueUtc)).toEqual([ENQUEUED_UTC + 55_000]);
    expect(stage.record()).toMatchObject({ kind: 'scheduled', attempt: 2 });
  });

  test('stays unsent where the next delivery cannot send it either', async () => {
    const stage = aStage({ handle, faults: { send: always(down) } });
    await stage.deliver();

    const report = await stage.deliver(aDelivery({ lockToken: lockToken(2), deliveryCount: 2 }));

    expect(report).toMatchObject({ outcome: 'left', reason: 'copy unsent: the broker is down', tries: 0 });
    expect(stage.record()).toMatchObject({ kind: 'unsent', attempt: 2 });
    expect(stage.settlement.settled.size).toBe(0);
  });
});

test('dead-letters the last delivery whose copy still cannot be sent, before the broker does it without a reason', async () => {
  const stage = aStage({ handle, policy: { maxDeliveryCount: 10 }, faults: { send: always(down) } });
  await stage.deliver();

  const report = await stage.deliver(aDelivery({ lockToken: lockToken(2), deliveryCount: 10 }));

  expect(report).toMatchObject({ outcome: 'dead-lettered', reason: 'DeliveriesExhausted', attempt: 1, tries: 0 });
  expect(report.description).toContain('the broker is down');
  expect(stage.record()).toMatchObject({ kind: 'deadLettered', attempt: 1 });
});

test('leaves the original unsettled where the copy is sent and its record is not', async () => {
  const stage = aStage({ handle, faults: { record: always(new Error('the store is down')) } });

  expect(await stage.deliver()).toMatchObject({ outcome: 'left', reason: 'copy sent, not recorded: storeDown' });
  expect(stage.sender.accepted.size).toBe(1);
  expect(stage.settlement.settled.size).toBe(0);
});

describe('a message of which no copy fits', () => {
  const steps = [
    'claim',
    'handle attempt 1 try 1',
    'record deadLettering MessageTooLarge',
    'dead-letter MessageTooLarge',
    'record deadLettered',
  ];

  test('is dead-lettered before a copy is sent, where that can be told', async () => {
    const stage = aStage({ handle, maxMessageInBytes: 2_000 });

    const report = await stage.deliver(aDelivery({ body: JSON.stringify('x'.repeat(1_900)) }));

    expect(report).toMatchObject({ outcome: 'dead-lettered', reason: 'MessageTooLarge' });
    expect(stage.journal.steps()).toEqual(steps);
  });

  test('is dead-lettered at once, where only the broker can tell', async () => {
    const stage = aStage({ handle, faults: { send: always(new SendError('tooLarge', 'too large')) } });

    expect(await stage.deliver()).toMatchObject({
      outcome: 'dead-lettered',
      reason: 'MessageTooLarge',
      durationInMs: 0,
    });
    expect(stage.journal.steps()).toEqual([...steps.slice(0, 2), 'send attempt 2: fails', ...steps.slice(2)]);
  });
});

test('a message of which the service takes no copy is dead-lettered at once, with what the service said', async () => {
  const no = new SendError('refused', 'sending to orders: GeneralError: ArgumentError: the partition key');
  const stage = aStage({ handle, faults: { send: always(no) } });

  const report = await stage.deliver();

  expect(report).toMatchObject({ outcome: 'dead-lettered', reason: 'CopyRefused', durationInMs: 0 });
  expect(report.description).toContain(no.message);
  expect(stage.journal.steps()).toEqual([
    'claim',
    'handle attempt 1 try 1',
    'send attempt 2: fails',
    'record deadLettering CopyRefused',
    'dead-letter CopyRefused',
    'record deadLettered',
  ]);
});

test('repeats the send of no more than one delivery at a time while the broker is down', async () => {
  const stage = aStage({ handle, faults: { send: always(down) } });
  const deliveries = Array.from({ length: 20 }, (_, n) => aDelivery({ messageId: `E${n}`, lockToken: lockToken(n) }));

  const reports = await Promise.all(deliveries.map((delivery) => stage.deliver(delivery)));

  expect(new Set(reports.map(({ outcome }) => outcome))).toEqual(new Set(['left']));
  const sends = stage.journal.steps().filter((step) => step === 'send attempt 2: fails').length;
  // One each at first; then one after pauses of 0.25 s that double up to 5 s, until the 55th second.
  expect(sends).toBe(20 + 14);
});
