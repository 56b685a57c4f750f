import { describe, expect, test } from 'vitest';
import { LedgerError, SendError } from '../../../functions/core/pipeline/ports.ts';
import { storeDownDelayInMs } from '../../../functions/core/rules/deferral-delay.ts';
import { PermanentError, TransientError } from '../../../functions/core/rules/errors.ts';
import { always, first, losesFirstReply } from '../../fakes/faults.ts';
import { aDelivery, anEnvelope, CONSUMER, ENQUEUED_UTC } from '../../fixtures/deliveries.ts';
import { aReport, aStage, lockToken } from './a-stage.ts';

const down = new LedgerError('unavailable', 'the store is down');

describe('at the claim', () => {
  test('waits in place for the ledger, then runs', async () => {
    const stage = aStage({ faults: { claim: first(2, down) } });

    expect(await stage.deliver()).toEqual(aReport({ durationInMs: 750 }));
    expect(stage.journal.timeline()).toEqual([
      '0 s claim: fails',
      '0.25 s claim: fails',
      '0.75 s claim',
      '0.75 s handle attempt 1 try 1',
      '0.75 s record completed',
      '0.75 s complete',
    ]);
  });

  test('waits for as long as the ledger asks to be left alone', async () => {
    const throttled = new LedgerError('throttled', 'too much', { retryAfterInMs: 8_000 });
    const stage = aStage({ faults: { claim: first(1, throttled) } });

    await stage.deliver();

    expect(stage.journal.timeline().slice(0, 2)).toEqual(['0 s claim: fails', '8 s claim']);
  });

  test('puts the delivery off once the lock cannot be held any longer, and does not run the handler', async () => {
    const stage = aStage({ faults: { claim: always(down) } });
    const delayInMs = storeDownDelayInMs(anEnvelope());

    expect(await stage.deliver()).toEqual(
      aReport({ tries: 0, outcome: 'deferred', reason: 'ledger down', delayInMs, durationInMs: 55_000 }),
    );
    expect(new Set(stage.journal.steps().slice(0, -2))).toEqual(new Set(['claim: fails']));
    expect(stage.journal.steps().slice(-2)).toEqual(['send deferral 1', 'complete']);
    const [copy] = stage.sender.accepted.values();
    expect(copy).toMatchObject({ dueUtc: ENQUEUED_UTC + 55_000 + delayInMs });
    expect(copy?.set.get('retry-attempt')?.value).toBe(0);
  });

  test('has the second delivery wait for the answer that the first one gets', async () => {
    const stage = aStage({ faults: { claim: first(4, down) } });

    await Promise.all([stage.deliver(), stage.deliver(aDelivery({ messageId: 'B', lockToken: lockToken(2) }))]);

    const claims = stage.journal.timeline().filter((step) => step.includes('claim'));
    expect(claims).toEqual([
      '0 s claim: fails',
      '0 s claim: fails',
      '0.25 s claim: fails',
      '0.75 s claim: fails',
      '1.75 s claim',
      '1.75 s claim',
    ]);
  });

  test('has a delivery that arrives meanwhile wait before it asks at all', async () => {
    const stage = aStage({ faults: { claim: first(3, down) } });
    const waiting = stage.deliver();
    await stage.clock.advance(1_000);

    const arriving = stage.deliver(aDelivery({ messageId: 'B', lockToken: lockToken(2) }));

    expect((await Promise.all([waiting, arriving])).map(({ outcome }) => outcome)).toEqual(['succeeded', 'succeeded']);
    expect(stage.journal.timeline().filter((step) => step.includes('claim'))).toEqual([
      '0 s claim: fails',
      '0.25 s claim: fails',
      '0.75 s claim: fails',
      '1.75 s claim',
      '1.75 s claim',
    ]);
  });

  test('leaves the delivery to its lock where it cannot be put off either', async () => {
    const stage = aStage({
      faults: { claim: always(down), send: always(new SendError('unavailable', 'so is the broker')) },
    });

    expect(await stage.deliver()).toMatchObject({
      outcome: 'left',
      reason: 'ledger down, deferral unsent: so is the broker',
    });
    expect(stage.settlement.settled.size).toBe(0);
  });

  test('leaves the delivery to its lock at the limit of deferrals', async () => {
    const stage = aStage({ faults: { claim: always(down) }, policy: { deferralLimit: 3 } });
    const deferral = aDelivery({
      properties: { 'retry-consumer': CONSUMER, 'retry-event-id': 'A', 'retry-deferrals': 3 },
    });

    expect(await stage.deliver(deferral)).toMatchObject({
      outcome: 'left',
      reason: 'ledger down, deferral limit reached',
    });
    expect(stage.settlement.settled.size).toBe(0);
    expect(stage.sender.accepted.size).toBe(0);
  });

  test('takes a claim whose reply was lost as its own', async () => {
    const stage = aStage({ faults: { claim: losesFirstReply(down) } });

    expect(await stage.deliver()).toEqual(aReport({ durationInMs: 250 }));
    expect(stage.record()).toMatchObject({ kind: 'completed', takeovers: 0 });
  });
});

describe('after the handler', () => {
  test('repeats the write until the ledger answers', async () => {
    const stage = aStage({ faults: { record: first(2, down) } });

    expect(await stage.deliver()).toEqual(aReport({ durationInMs: 750 }));
    expect(stage.journal.steps().slice(1)).toEqual([
      'handle attempt 1 try 1',
      'record completed: fails',
      'record completed: fails',
      'record completed',
      'complete',
    ]);
  });

  test('takes a write whose reply was lost as written', async () => {
    const stage = aStage({ faults: { record: losesFirstReply(down) } });

    expect(await stage.deliver()).toEqual(aReport({ durationInMs: 250 }));
    expect(stage.journal.steps().slice(-2)).toEqual(['record completed', 'complete']);
  });

  test('settles nothing after an effect that it cannot record, and says so', async () => {
    const stage = aStage({ faults: { record: always(down) } });

    expect(await stage.deliver()).toEqual(
      aReport({ outcome: 'left', reason: 'effect unrecorded: storeDown', durationInMs: 55_000 }),
    );
    expect(stage.settlement.settled.size).toBe(0);
    expect(stage.telemetry.lines).toContainEqual({
      level: 'error',
      message: expect.stringMatching(/^effect_unrecorded/),
    });
  });

  test('lets a dead letter go without its record, and confirms nothing', async () => {
    const handle = () => Promise.reject(new PermanentError('UnsupportedCurrency', 'XXX'));
    const stage = aStage({ handle, faults: { record: always(down) } });

    expect(await stage.deliver()).toMatchObject({ outcome: 'dead-lettered', reason: 'UnsupportedCurrency' });
    expect(stage.journal.steps().at(-1)).toBe('dead-letter UnsupportedCurrency');
    expect(stage.settlement.settled.size).toBe(1);
  });

  test('settles nothing where the copy is sent and its record is not', async () => {
    const handle = () => Promise.reject(new TransientError('down'));
    const stage = aStage({ handle, faults: { record: always(down) } });

    expect(await stage.deliver()).toMatchObject({ outcome: 'left', reason: 'copy sent, not recorded: storeDown' });
    expect(stage.settlement.settled.size).toBe(0);
  });
});
