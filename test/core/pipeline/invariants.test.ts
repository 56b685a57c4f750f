import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LedgerError, type Report, SendError } from '../../../functions/core/pipeline/ports.ts';
import { PermanentError, TransientError } from '../../../functions/core/rules/errors.ts';
import type { Fault, Faults } from '../../fakes/faults.ts';
import { aDelivery, CONSUMER, ENQUEUED_UTC } from '../../fixtures/deliveries.ts';
import { aStage, claimElsewhere, lockToken, type StageHandler } from './a-stage.ts';

/** Faults of the first calls, one by one, then of all others. */
const faultsWith = (...errors: unknown[]): fc.Arbitrary<Faults> => {
  const fault: fc.Arbitrary<Fault | undefined> = fc.oneof(
    { weight: 2, arbitrary: fc.constant(undefined) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constantFrom('fails' as const, 'losesReply' as const),
        error: fc.constantFrom(...errors),
      }),
    },
  );
  return fc.tuple(fc.array(fault, { maxLength: 6 }), fault).map(
    ([script, rest]) =>
      (call) =>
        call < script.length ? script[call] : rest,
  );
};

const storeErrors = [
  new LedgerError('unavailable', 'down'),
  new LedgerError('throttled', 'too much', { retryAfterInMs: 30_000 }),
  new LedgerError('forbidden', 'no'),
  new Error('a bug'),
];
const sendErrors = [
  new SendError('unavailable', 'down'),
  new SendError('tooLarge', 'large'),
  new SendError('refused', 'no'),
  new TypeError('a bug'),
];
const lockLost = new Error('MessageLockLost');

const ends: readonly (() => void)[] = [
  () => {},
  () => {
    throw new TransientError('down');
  },
  () => {
    throw new TransientError('busy', { retryAfterInMs: 5_000 });
  },
  () => {
    throw new PermanentError('No', 'no');
  },
  () => {
    throw undefined;
  },
];

/** Works for a while, heeds its signal or not, and ends one way or another. */
const handlers: fc.Arbitrary<StageHandler> = fc
  .record({
    worksForInMs: fc.constantFrom(0, 100, 10_000, 29_999, 33_000, 50_000),
    heeds: fc.boolean(),
    end: fc.constantFrom(...ends),
  })
  .map(({ worksForInMs, heeds, end }) => async ({ signal }, { clock }) => {
    await clock.sleep(worksForInMs, heeds ? signal : undefined);
    if (heeds) signal.throwIfAborted();
    end();
  });

const deliveries = fc.array(
  fc.record({
    attempt: fc.integer({ min: 1, max: 5 }),
    deliveryCount: fc.integer({ min: 1, max: 10 }),
    deferrals: fc.constantFrom(0, 0, 1, 3),
    isMalformed: fc.constantFrom(false, false, false, true),
    lockedForInMs: fc.constantFrom(-1, 60_000),
    gapInMs: fc.constantFrom(0, 1_000, 60_000),
  }),
  { minLength: 1, maxLength: 4 },
);

const lives = fc.record({
  handle: handlers,
  deliveries,
  faults: fc.record({
    claim: faultsWith(...storeErrors),
    record: faultsWith(...storeErrors),
    send: faultsWith(...sendErrors),
    settle: faultsWith(lockLost),
    renew: faultsWith(lockLost),
  }),
  stopsAtInMs: fc.option(fc.integer({ min: 0, max: 90_000 }), { nil: undefined }),
  storeJumpsAtInMs: fc.option(fc.integer({ min: 0, max: 40_000 }), { nil: undefined }),
  isBusyElsewhere: fc.constantFrom(false, false, true),
});

const isSettlement = (step: string) => /^(complete|abandon|dead-letter )/.test(step);
const isAccepted = (step: string) => step.startsWith('send ') && !step.endsWith(': fails');

/** What holds of the steps of each delivery, whatever went wrong. */
function check(report: Report, steps: readonly string[]): void {
  const settlements = steps.filter(isSettlement);
  expect(settlements.length, 'settles at most once').toBeLessThanOrEqual(1);

  const settledAt = steps.findIndex(isSettlement);
  const before = settledAt < 0 ? [] : steps.slice(0, settledAt);
  if (steps.some((step) => step.startsWith('complete'))) {
    expect(['succeeded', 'redelivered', 'deferred', 'duplicate', 'stale']).toContain(report.outcome);
  }
  if (report.outcome === 'redelivered' || report.outcome === 'deferred') {
    expect(before.some(isAccepted), 'completes only what has a copy that was accepted').toBe(true);
  }
  if (report.outcome === 'redelivered') expect(before.at(-1)).toMatch(/^record scheduled \d$/);
  if (report.outcome === 'succeeded') expect(before.at(-1)).toBe('record completed');
  if (steps.some((step) => step.startsWith('abandon'))) {
    expect(
      steps.some((step) => isAccepted(step) || step.startsWith('record completed')),
      'abandons no effect',
    ).toBe(false);
  }

  const runsAt = steps.findIndex((step) => step.startsWith('handle '));
  if (runsAt >= 0) expect(steps[runsAt - 1], 'runs only what it has claimed').toBe('claim');
  if (report.outcome === 'duplicate' || report.outcome === 'stale') expect(runsAt).toBe(-1);
}

// Field case D3.
test('never throws, settles at most once, and completes nothing on a guess, whatever goes wrong', async () => {
  const outcomes = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(lives, async (life) => {
      const stage = aStage({ handle: life.handle, faults: life.faults, policy: { tries: 2, tryDelaysInMs: [300] } });
      const { clock, journal, telemetry } = stage;
      if (life.isBusyElsewhere) await claimElsewhere(stage);
      if (life.stopsAtInMs !== undefined) clock.at(life.stopsAtInMs, () => stage.stop.abort());
      if (life.storeJumpsAtInMs !== undefined) clock.at(life.storeJumpsAtInMs, () => stage.jumpStoreClock(90_000));

      for (const [at, { gapInMs, lockedForInMs, deferrals, isMalformed, ...place }] of life.deliveries.entries()) {
        await clock.advance(gapInMs);
        const seen = journal.steps().length;
        const report = await stage.deliver(
          aDelivery({
            ...place,
            lockToken: lockToken(at + 1),
            lockedUntilUtc: clock.nowUtc() + lockedForInMs,
            properties: {
              ...(deferrals > 0
                ? { 'retry-consumer': CONSUMER, 'retry-event-id': 'A', 'retry-deferrals': deferrals }
                : {}),
            },
            ...(isMalformed ? { body: '{' } : {}),
          }),
        );
        outcomes.set(report.outcome, (outcomes.get(report.outcome) ?? 0) + 1);
        check(report, journal.steps().slice(seen));
        expect(telemetry.reports).toHaveLength(at + 1);
        expect(telemetry.reports[at]).toBe(report);

        // What a handler does that outlives its delivery changes nothing of it.
        const ended = journal.steps().length;
        if (report.stillRuns) await clock.advance(60_000);
        expect(journal.steps()).toHaveLength(ended);
      }
      const steps = journal.steps();
      const isRecorded = (step: string) => step === 'record completed' || step === 'record completed: reply lost';
      const recordedAt = steps.findIndex(isRecorded);
      const runsAfter = recordedAt < 0 ? [] : steps.slice(recordedAt).filter((step) => step.startsWith('handle '));
      expect(runsAfter, 'runs no effect again that is recorded').toEqual([]);
      await clock.advance(200_000);
      expect(clock.pending()).toBe(0);
      expect(clock.nowUtc()).toBeGreaterThan(ENQUEUED_UTC);
    }),
    { numRuns: 1_000 },
  );
  // A property that never sees an outcome proves nothing of it.
  expect([...outcomes.keys()].sort()).toEqual([
    'dead-lettered',
    'deferred',
    'duplicate',
    'left',
    'redelivered',
    'released',
    'stale',
    'succeeded',
  ]);
}, 60_000);
