import { describe, expect, test } from 'vitest';
import { busyDelayInMs } from '../../../functions/core/rules/deferral-delay.ts';
import type { Delivery } from '../../../functions/core/rules/delivery.ts';
import { PermanentError, TransientError } from '../../../functions/core/rules/errors.ts';
import { always } from '../../fakes/faults.ts';
import { aDelivery, anEnvelope, anOrigin, CONSUMER, ENQUEUED_UTC } from '../../fixtures/deliveries.ts';
import { aReport, aStage, claimElsewhere, KEY, lockToken, type Stage, type StageOptions } from './a-stage.ts';

const secondDelivery = (changes = {}) => aDelivery({ lockToken: lockToken(2), deliveryCount: 2, ...changes });

/** An event that another instance has brought as far as this entry. */
async function recorded(stage: Stage, entry: Parameters<Stage['ledger']['record']>[1], attempt = 1): Promise<void> {
  const claim = await claimElsewhere(stage, 30_000, attempt);
  if (claim.kind !== 'run') throw new Error(`expected to run, got ${claim.kind}`);
  await stage.ledger.record(claim.hold, entry);
}

describe('the claim', () => {
  /** What the ledger is asked for a delivery. */
  async function askedFor(delivery: Delivery, options: StageOptions = {}): Promise<unknown[]> {
    const asked: unknown[] = [];
    const stage = aStage(options);
    const { claim } = stage.ledger;
    stage.ledger.claim = (...args) => {
      asked.push(args);
      return claim(...args);
    };
    await stage.deliver(delivery);
    return asked;
  }

  test('is by lock token, for a lease that covers the handler, a slow end and the time to settle', async () => {
    const claimant = { generation: 0, attempt: 1, origin: anOrigin(), owner: lockToken(1), fingerprint: undefined };

    expect(await askedFor(aDelivery())).toEqual([[KEY, claimant, 40_000, false]]);
  });

  test('is for a shorter lease where the lock ends sooner', async () => {
    const [[, , leaseInMs] = []] = (await askedFor(aDelivery(), { budgetInMs: 20_000 })) as unknown[][];

    expect(leaseInMs).toBe(25_000);
  });

  test.each([
    ['a copy', { attempt: 2 }],
    ['a deferral', { properties: { 'retry-consumer': CONSUMER, 'retry-event-id': 'A', 'retry-deferrals': 1 } }],
    ['a second delivery', { deliveryCount: 2 }],
  ])('expects a record for %s', async (_name, changes) => {
    const [[, , , mayExist] = []] = (await askedFor(aDelivery(changes))) as unknown[][];

    expect(mayExist).toBe(true);
  });
});

describe('an event that is busy elsewhere', () => {
  test('is put off to the end of the lease, then completed', async () => {
    const stage = aStage();
    await claimElsewhere(stage);
    const delayInMs = busyDelayInMs(anEnvelope(), 30_000, false);

    expect(await stage.deliver()).toEqual(
      aReport({ tries: 0, outcome: 'deferred', reason: 'busy elsewhere', delayInMs }),
    );
    expect(delayInMs).toBeGreaterThanOrEqual(30_000);
    expect(stage.journal.steps()).toEqual(['claim', 'send deferral 1', 'complete']);
    expect([...stage.sender.accepted.values()].map(({ dueUtc }) => dueUtc)).toEqual([ENQUEUED_UTC + delayInMs]);
  });

  test('is put off for a second only where this is the next attempt of the one that runs', async () => {
    const stage = aStage();
    await claimElsewhere(stage);

    expect(await stage.deliver(aDelivery({ attempt: 2 }))).toEqual(
      aReport({ attempt: 2, tries: 0, outcome: 'deferred', reason: 'busy elsewhere', delayInMs: 1_000 }),
    );
  });

  test('is left to its lock where no deferral fits into a message', async () => {
    const stage = aStage({ maxMessageInBytes: 1_000 });
    await claimElsewhere(stage);

    const report = await stage.deliver(aDelivery({ body: JSON.stringify('x'.repeat(990)) }));

    expect(report).toMatchObject({
      outcome: 'left',
      reason: expect.stringMatching(/^busy elsewhere, no room for a copy/),
    });
    expect(stage.journal.steps()).toEqual(['claim']);
  });

  test('is left to its lock at the limit of deferrals', async () => {
    const stage = aStage({ policy: { deferralLimit: 2 } });
    await claimElsewhere(stage);
    const properties = { 'retry-consumer': CONSUMER, 'retry-event-id': 'A', 'retry-deferrals': 2 };

    expect(await stage.deliver(aDelivery({ properties }))).toEqual(
      aReport({ tries: 0, outcome: 'left', reason: 'busy elsewhere, deferral limit reached' }),
    );
    expect(stage.journal.steps()).toEqual(['claim']);
  });
});

test.each([
  ['duplicate', 'completed', { kind: 'completed' }, aDelivery({ lockToken: lockToken(2) })],
  [
    'stale',
    'scheduled',
    { kind: 'scheduled', attempt: 2, dueUtc: ENQUEUED_UTC },
    aDelivery({ lockToken: lockToken(2) }),
  ],
] as const)('completes a %s delivery of a %s event, and does not run', async (outcome, kind, entry, delivery) => {
  const stage = aStage();
  await recorded(stage, entry);

  expect(await stage.deliver(delivery)).toEqual(aReport({ tries: 0, outcome }));
  expect(stage.journal.steps()).toEqual(['claim', 'complete']);
  expect(stage.record()).toMatchObject({ kind });
});

test('dead-letters once more with the recorded reason what was recorded and not settled, and does not run', async () => {
  const handle = () => Promise.reject(new PermanentError('UnsupportedCurrency', 'XXX'));
  const stage = aStage({
    handle,
    faults: { settle: (call) => (call === 0 ? { kind: 'fails', error: new Error('lock lost') } : undefined) },
  });
  const { description } = await stage.deliver().then(() => stage.record()?.deadLetter ?? { description: '' });
  const before = stage.journal.steps().length;

  const report = await stage.deliver(secondDelivery());

  expect(report).toEqual(
    aReport({ deliveryCount: 2, tries: 0, outcome: 'dead-lettered', reason: 'UnsupportedCurrency', description }),
  );
  expect(stage.journal.steps().slice(before)).toEqual([
    'claim',
    'dead-letter UnsupportedCurrency',
    'record deadLettered',
  ]);
  expect(stage.record()).toMatchObject({ kind: 'deadLettered' });
});

test('goes on with what was released, which counts as no attempt and no crash', async () => {
  const stage = aStage();
  await recorded(stage, { kind: 'released' });

  expect(await stage.deliver(secondDelivery())).toEqual(aReport({ deliveryCount: 2 }));
});

describe('dead-letters in two phases without a run:', () => {
  test.each([
    ['the last delivery that the broker makes', { deliveryCount: 10 }, {}, 'DeliveriesExhausted'],
    ['an attempt above what the policy permits now', { attempt: 5 }, {}, 'AttemptsExhausted'],
    ['an attempt forged far above', { attempt: 2_000_000_000 }, {}, 'AttemptsExhausted'],
  ])('%s', async (_name, changes, policy, reason) => {
    const stage = aStage({ policy: { maxDeliveryCount: 10, ...policy } });

    expect(await stage.deliver(aDelivery(changes))).toMatchObject({ outcome: 'dead-lettered', reason, tries: 0 });
    expect(stage.journal.steps()).toEqual([
      'claim',
      `record deadLettering ${reason}`,
      `dead-letter ${reason}`,
      'record deadLettered',
    ]);
  });
});

test('completes a duplicate on the last delivery that the broker makes', async () => {
  const stage = aStage({ policy: { maxDeliveryCount: 10 } });
  await recorded(stage, { kind: 'completed' });

  expect(await stage.deliver(secondDelivery({ deliveryCount: 10 }))).toMatchObject({ outcome: 'duplicate' });
});

describe('a lease that someone else has taken meanwhile', () => {
  /** While the handler runs, its lease ends by the store's clock, and another instance takes the event over. */
  const losing = (end: () => Promise<void>) => async (_: unknown, stage: Stage) => {
    stage.jumpStoreClock(100_000);
    await claimElsewhere(stage);
    await end();
  };

  test.each([
    ['a success', async () => {}, ['record completed'], 'effect unrecorded: leaseLost'],
    [
      'a permanent failure',
      () => Promise.reject(new PermanentError('No', 'no')),
      ['record deadLettering No'],
      'lease lost',
    ],
    [
      'a failure that may pass',
      () => Promise.reject(new TransientError('down')),
      ['send attempt 2', 'record scheduled 2'],
      'copy sent, not recorded: leaseLost',
    ],
  ])('leaves the message unsettled after %s', async (_name, end, steps, reason) => {
    const stage = aStage({ handle: losing(end) });

    const report = await stage.deliver();

    expect({ outcome: report.outcome, reason: report.reason }).toEqual({ outcome: 'left', reason });
    expect(stage.journal.steps()).toEqual(['claim', 'handle attempt 1 try 1', ...steps]);
    expect(stage.settlement.settled.size).toBe(0);
  });

  test('leaves the message unsettled after a stop', async () => {
    const handle = losing(() => Promise.reject(new Error('stopped')));
    const stage = aStage({
      handle: async (context, on) => {
        on.stop.abort();
        await handle(context, on);
      },
    });

    await stage.deliver();

    expect(stage.journal.steps()).toEqual(['claim', 'handle attempt 1 try 1', 'record released']);
    expect(stage.settlement.settled.size).toBe(0);
  });
});

// Field case L6.
test('leaves a message unsettled whose settlement fails, for the next delivery to finish', async () => {
  const stage = aStage({ faults: { settle: always(new Error('the lock is lost')) } });

  const report = await stage.deliver();

  expect(report).toEqual(aReport());
  expect(stage.journal.steps().slice(-2)).toEqual(['record completed', 'complete: fails']);
  expect(stage.telemetry.lines).toEqual([
    { level: 'warning', message: expect.stringContaining('settlement failed, left to the next delivery') },
  ]);
  expect(await stage.deliver(secondDelivery())).toMatchObject({ outcome: 'duplicate', tries: 0 });
});
