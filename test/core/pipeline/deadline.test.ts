import { describe, expect, test } from 'vitest';
import { PermanentError, TransientError } from '../../../functions/core/rules/errors.ts';
import { aReport, aStage, type StageHandler } from './a-stage.ts';

const outOfTime = (timeoutInMs: number) => ({
  outcome: 'redelivered' as const,
  reason: 'HandlerTimeout',
  description: `the handler took longer than ${timeoutInMs} ms`,
  delayInMs: 1_000,
  durationInMs: timeoutInMs,
});

describe('a handler that takes too long', () => {
  const heeding: StageHandler = async ({ signal }, { clock }) => {
    await clock.sleep(40_000, signal);
    signal.throwIfAborted();
  };

  test('is told so at its own limit, and its attempt is tried again later', async () => {
    const stage = aStage({ handle: heeding });

    expect(await stage.deliver()).toEqual(aReport(outOfTime(30_000)));
    expect(stage.journal.steps().slice(2)).toEqual(['send attempt 2', 'record scheduled 2', 'complete']);
  });

  test('is told so five seconds before the lock ends, where that is sooner', async () => {
    const stage = aStage({ handle: heeding, budgetInMs: 20_000 });

    expect(await stage.deliver()).toEqual(aReport(outOfTime(15_000)));
  });

  test('has less time where the delivery has waited since the host called', async () => {
    const stage = aStage({ handle: heeding, budgetInMs: 20_000 });
    const startedAtInMs = stage.clock.monotonicInMs();
    await stage.clock.advance(6_000);

    expect(await stage.deliver(undefined, { startedAtInMs })).toEqual(
      aReport({ ...outOfTime(9_000), durationInMs: 15_000 }),
    );
  });

  test('is told so with a TimeoutError as the reason', async () => {
    const reasons: unknown[] = [];
    const stage = aStage({
      handle: async (context, on) => {
        await heeding(context, on).catch((error: unknown) => reasons.push(error));
      },
    });

    await stage.deliver();

    expect(reasons).toEqual([new DOMException('the time for this attempt is up', 'TimeoutError')]);
  });

  test('counts as out of time whatever it throws then', async () => {
    const stage = aStage({
      handle: async ({ signal }, { clock }) => {
        await clock.sleep(40_000, signal);
        throw new PermanentError('Aborted', 'aborted');
      },
    });

    expect(await stage.deliver()).toEqual(aReport(outOfTime(30_000)));
  });

  test('is completed where it succeeds late, in the seconds of grace', async () => {
    const stage = aStage({ handle: (_, { clock }) => clock.sleep(34_000) });

    expect(await stage.deliver()).toEqual(aReport({ durationInMs: 34_000 }));
    expect(stage.journal.steps().slice(2)).toEqual(['record completed', 'complete']);
  });
});

test('settles, records and schedules nothing of a handler that ignores its signal, whatever becomes of it', async () => {
  const stage = aStage({ handle: (_, { clock }) => clock.sleep(50_000) });

  const report = await stage.deliver();

  expect(report).toEqual(
    aReport({ outcome: 'left', reason: 'the handler ignored its signal', stillRuns: true, durationInMs: 35_000 }),
  );
  await stage.clock.advance(15_000);
  expect(stage.journal.steps()).toEqual(['claim', 'handle attempt 1 try 1']);
  expect(stage.record()).toMatchObject({ kind: 'inProgress' });
});

describe('tries inside one attempt', () => {
  const blip = new TransientError('down', { code: 'HTTP 503' });
  const failing = (times: number, error: unknown = blip): StageHandler => {
    let calls = 0;
    return async () => {
      if (calls++ < times) throw error;
    };
  };

  test('follow each other after pauses, of which the last repeats', async () => {
    const stage = aStage({ handle: failing(3), policy: { tries: 4, tryDelaysInMs: [200, 500] } });

    expect(await stage.deliver()).toEqual(aReport({ tries: 4, durationInMs: 1_200 }));
    expect(stage.journal.timeline()).toEqual([
      '0 s claim',
      '0 s handle attempt 1 try 1',
      '0.2 s handle attempt 1 try 2',
      '0.7 s handle attempt 1 try 3',
      '1.2 s handle attempt 1 try 4',
      '1.2 s record completed',
      '1.2 s complete',
    ]);
  });

  test('end with a redelivery where all fail', async () => {
    const stage = aStage({ handle: failing(9), policy: { tries: 3, tryDelaysInMs: [200] } });

    expect(await stage.deliver()).toMatchObject({ outcome: 'redelivered', tries: 3, attempt: 1, durationInMs: 400 });
  });

  // E2: pauses must not eat the lock.
  test('are cut to the time that is left', async () => {
    const policy = { tries: 9, tryDelaysInMs: [8_000], handlerTimeoutInMs: 20_000 };
    const stage = aStage({ handle: failing(9), policy });

    expect(await stage.deliver()).toMatchObject({ outcome: 'redelivered', tries: 3, durationInMs: 16_000 });
  });

  test('are left to a redelivery where the other side asks for a wait', async () => {
    const busy = new TransientError('too many', { code: 'HTTP 429', retryAfterInMs: 20_000 });
    const stage = aStage({ handle: failing(9, busy), policy: { tries: 3, tryDelaysInMs: [200] } });

    expect(await stage.deliver()).toMatchObject({
      outcome: 'redelivered',
      tries: 1,
      delayInMs: 20_000,
      durationInMs: 0,
    });
  });

  test.each([
    ['a permanent failure', new PermanentError('No', 'no'), 'No'],
    ['a failure that nobody knows', new Error('what?'), 'UnclassifiedFailure'],
  ])('are no use to %s', async (_name, error, reason) => {
    const stage = aStage({ handle: failing(9, error), policy: { tries: 3, tryDelaysInMs: [200] } });

    expect(await stage.deliver()).toMatchObject({ outcome: 'dead-lettered', reason, tries: 1 });
  });

  test('are of use to a failure that nobody knows, where the policy takes it for passing', async () => {
    const stage = aStage({ handle: failing(1, new Error('what?')), policy: { tries: 2, unclassified: 'transient' } });

    expect(await stage.deliver()).toEqual(aReport({ tries: 2 }));
  });

  test('share one signal, one deadline and one idempotency key', async () => {
    const seen: object[] = [];
    const failTwice = failing(2);
    const stage = aStage({
      handle: async (context, on) => {
        const { signal, deadlineUtc, idempotencyKey } = context;
        seen.push({ signal, deadlineUtc, idempotencyKey });
        await failTwice(context, on);
      },
      policy: { tries: 3, tryDelaysInMs: [1_000] },
    });

    await stage.deliver();

    expect(seen).toEqual([seen[0], seen[0], seen[0]]);
  });
});

test('takes a handler that throws instead of rejecting like any other', async () => {
  const stage = aStage({
    handle: () => {
      throw new PermanentError('No', 'no');
    },
  });

  expect(await stage.deliver()).toMatchObject({ outcome: 'dead-lettered', reason: 'No' });
});
