import { expect, test } from 'vitest';
import type { Clock } from '../../../functions/core/pipeline/ports.ts';
import { runAttempt } from '../../../functions/core/pipeline/run-attempt.ts';
import { TransientError } from '../../../functions/core/rules/errors.ts';
import { aDelivery, aPolicy, CONSUMER, NOW_UTC } from '../../fixtures/deliveries.ts';

/** Wakes from its first sleep a minute late, as after a machine's: what was due first goes on first. */
function frozenClock(): Clock {
  let nowInMs = 0;
  return {
    nowUtc: () => NOW_UTC + nowInMs,
    monotonicInMs: () => nowInMs,
    sleep: async (delayInMs) => {
      if (delayInMs > 1_000) return new Promise(() => undefined);
      nowInMs += 60_000;
    },
  };
}

test('does not start another try once a process that stood still has lost its time', async () => {
  const tries: number[] = [];
  const handle = async (_event: unknown, context: { try: number }) => {
    tries.push(context.try);
    throw new TransientError('not now');
  };
  const consumer = { name: CONSUMER, policyName: 'p', policy: aPolicy({ tries: 2, tryDelaysInMs: [200] }), handle };
  const invocation = {
    startedAtInMs: 0,
    budgetInMs: 60_000,
    stopping: new AbortController().signal,
    traceparent: undefined,
    log: () => undefined,
  };
  const times = { timeoutInMs: 10_000, graceInMs: 5_000 };
  const attempt = { event: {}, delivery: aDelivery(), eventId: 'A', generation: 0, attempt: 1, ...times };

  const ended = await runAttempt(
    { ...consumer, validate: () => ({ kind: 'valid', event: {} }) },
    { clock: frozenClock() },
    invocation,
    attempt,
  );

  expect(ended).toMatchObject({ kind: 'failed', failure: { code: 'HandlerTimeout' }, tries: 1 });
  expect(tries).toEqual([1]);
});
