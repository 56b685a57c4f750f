import { describe, expect, test } from 'vitest';
import { PermanentError, TransientError } from '../../../functions/core/rules/errors.ts';
import { aDelivery, ENQUEUED_UTC } from '../../fixtures/deliveries.ts';
import { aReport, aStage, lockToken } from './a-stage.ts';

const blip = new TransientError('the provider is down', { code: 'HTTP 503' });
const failing = (error: unknown) => ({ handle: () => Promise.reject(error) });

test('records a success, then completes the message', async () => {
  const stage = aStage();

  const report = await stage.deliver();

  expect(report).toEqual(aReport());
  expect(stage.journal.steps()).toEqual(['claim', 'handle attempt 1 try 1', 'record completed', 'complete']);
  expect(stage.record()).toMatchObject({ kind: 'completed', generation: 0, attempt: 1 });
  expect(stage.telemetry.reports).toEqual([report]);
});

test('schedules the copy, then records it, then completes the original', async () => {
  const stage = aStage(failing(blip));

  expect(await stage.deliver()).toEqual(
    aReport({ outcome: 'redelivered', reason: 'HTTP 503', description: 'the provider is down', delayInMs: 1_000 }),
  );
  expect(stage.journal.steps()).toEqual([
    'claim',
    'handle attempt 1 try 1',
    'send attempt 2',
    'record scheduled 2',
    'complete',
  ]);
  expect([...stage.sender.accepted.values()].map(({ dueUtc }) => dueUtc)).toEqual([ENQUEUED_UTC + 1_000]);
  expect(stage.record()).toMatchObject({ kind: 'scheduled', attempt: 2 });
});

describe('dead-letters in two phases, recorded before and confirmed after the settlement:', () => {
  test.each([
    ['a permanent failure', failing(new PermanentError('UnsupportedCurrency', 'XXX')), {}, 'UnsupportedCurrency'],
    ['a failure that nobody knows', failing(new Error('what?')), {}, 'UnclassifiedFailure'],
    ['the last permitted attempt', failing(blip), { attempt: 4 }, 'AttemptsExhausted'],
    [
      'an attempt that would miss the window',
      { ...failing(blip), policy: { windowInMs: 500 } },
      {},
      'RetryWindowExceeded',
    ],
    ['an attempt that would expire', failing(blip), { expiresUtc: ENQUEUED_UTC + 500 }, 'TimeToLiveExceeded'],
  ])('%s', async (_name, options, changes, reason) => {
    const stage = aStage(options);
    const { attempt = 1 } = changes as { attempt?: number };

    const report = await stage.deliver(aDelivery(changes));

    expect(report).toMatchObject({ attempt, outcome: 'dead-lettered', reason, tries: 1 });
    expect(stage.journal.steps()).toEqual([
      'claim',
      `handle attempt ${attempt} try 1`,
      `record deadLettering ${reason}`,
      `dead-letter ${reason}`,
      'record deadLettered',
    ]);
    expect(stage.settlement.settled.get(lockToken(1))).toMatchObject({ reason, description: report.description });
    expect(stage.record()).toMatchObject({ kind: 'deadLettered', attempt, deadLetter: { messageId: 'A', reason } });
  });
});

test('runs an attempt above 1 as the copy that it is', async () => {
  const stage = aStage();

  expect(await stage.deliver(aDelivery({ attempt: 3, messageId: 'A~r2~c' }))).toEqual(
    aReport({ attempt: 3, messageId: 'A~r2~c' }),
  );
  expect(stage.journal.steps()).toEqual(['claim', 'handle attempt 3 try 1', 'record completed', 'complete']);
});

test('takes an event through all its attempts, the ledger on the way', async () => {
  const stage = aStage(failing(blip));
  const outcomes: unknown[] = [];

  for (const attempt of [1, 2, 3, 4]) {
    const delivery = aDelivery({ attempt, lockToken: lockToken(attempt), sequenceNumber: `${attempt}` });
    const { outcome, reason, delayInMs } = await stage.deliver(delivery);
    outcomes.push([outcome, reason, delayInMs]);
  }

  expect(outcomes).toEqual([
    ['redelivered', 'HTTP 503', 1_000],
    ['redelivered', 'HTTP 503', 2_000],
    ['redelivered', 'HTTP 503', 4_000],
    ['dead-lettered', 'AttemptsExhausted', undefined],
  ]);
});

// Field case B5.
test('names the event as the composition does, where it has a name of its own', async () => {
  const stage = aStage({ eventId: ({ orderId }) => `order ${orderId}` });

  expect(await stage.deliver()).toEqual(aReport({ eventId: 'order A-1' }));
});

test('tells the handler all that it may know', async () => {
  const contexts: object[] = [];
  const stage = aStage({ handle: async (context) => void contexts.push(context) });
  const delivery = aDelivery({ attempt: 4, generation: 2 });

  await stage.deliver(delivery);

  expect(contexts).toEqual([
    {
      eventId: 'A',
      attempt: 4,
      maxAttempts: 4,
      try: 1,
      isLastAttempt: true,
      generation: 2,
      idempotencyKey: expect.stringMatching(/^[0-9a-f]{64}$/),
      signal: expect.any(AbortSignal),
      deadlineUtc: ENQUEUED_UTC + 30_000,
      log: expect.any(Function),
      delivery,
    },
  ]);
});

test('logs the properties of a message that it does not believe', async () => {
  const stage = aStage();

  await stage.deliver(aDelivery({ properties: { 'retry-attempt': 3 } }));

  expect(stage.telemetry.lines).toEqual([
    { level: 'warning', message: expect.stringMatching(/^property: retry-attempt/) },
  ]);
});
