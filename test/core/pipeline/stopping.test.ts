import { describe, expect, test } from 'vitest';
import { LedgerError, SendError } from '../../../functions/core/pipeline/ports.ts';
import { PermanentError, TransientError } from '../../../functions/core/rules/errors.ts';
import { always } from '../../fakes/faults.ts';
import { aDelivery } from '../../fixtures/deliveries.ts';
import { aReport, aStage, lockToken, type StageHandler } from './a-stage.ts';

/** Works for ten seconds, or gives up as soon as it is told to. */
const heeding: StageHandler = async ({ signal }, { clock }) => {
  await clock.sleep(10_000, signal);
  signal.throwIfAborted();
};

test('leaves a delivery that arrives after the signal to its lock', async () => {
  const stage = aStage();
  stage.stop.abort();

  expect(await stage.deliver()).toEqual(aReport({ tries: 0, outcome: 'left', reason: 'stopping' }));
  expect(stage.journal.steps()).toEqual([]);
});

describe('a delivery whose handler runs', () => {
  test('is released and abandoned once, where the handler gives up', async () => {
    const stage = aStage({ handle: heeding });
    stage.clock.at(3_000, () => stage.stop.abort());

    expect(await stage.deliver()).toEqual(aReport({ outcome: 'released', reason: 'stopping', durationInMs: 3_000 }));
    expect(stage.journal.timeline()).toEqual([
      '0 s claim',
      '0 s handle attempt 1 try 1',
      '3 s record released',
      '3 s abandon',
    ]);
  });

  test('uses no attempt, and another instance runs the same one at once', async () => {
    const stage = aStage({ handle: heeding });
    stage.clock.at(3_000, () => stage.stop.abort());
    await stage.deliver();

    const { signal } = new AbortController();
    const report = await stage.deliver(aDelivery({ lockToken: lockToken(2), deliveryCount: 2 }), { stopping: signal });

    expect(report).toEqual(aReport({ deliveryCount: 2, durationInMs: 10_000 }));
    expect(stage.record()).toMatchObject({ kind: 'completed', takeovers: 0 });
  });

  test('is completed, where the handler finishes its work all the same', async () => {
    const stage = aStage({ handle: (_, { clock }) => clock.sleep(4_000) });
    stage.clock.at(3_000, () => stage.stop.abort());

    expect(await stage.deliver()).toEqual(aReport({ durationInMs: 4_000 }));
    expect(stage.journal.steps()).toEqual(['claim', 'handle attempt 1 try 1', 'record completed', 'complete']);
  });

  test.each([
    ['a failure that may pass', new TransientError('aborted')],
    ['a permanent failure', new PermanentError('Aborted', 'aborted')],
    ['an error of its own', 'aborted'],
  ])('is released whatever the handler gives up with: %s', async (_name, error) => {
    const stage = aStage({
      handle: async (_, { stop }) => {
        stop.abort();
        throw error;
      },
    });

    expect(await stage.deliver()).toMatchObject({ outcome: 'released' });
    expect(stage.journal.steps().slice(2)).toEqual(['record released', 'abandon']);
  });

  test('is left unsettled, where the handler ignores the signal', async () => {
    const stage = aStage({ handle: (_, { clock }) => clock.sleep(20_000) });
    stage.clock.at(3_000, () => stage.stop.abort());

    expect(await stage.deliver()).toMatchObject({ outcome: 'left', stillRuns: true, durationInMs: 8_000 });
    expect(stage.journal.steps()).toEqual(['claim', 'handle attempt 1 try 1']);
    await stage.clock.advance(12_000);
    expect(stage.journal.steps()).toEqual(['claim', 'handle attempt 1 try 1']);
  });

  test('is released in the pause between two tries', async () => {
    const handle = () => Promise.reject(new TransientError('down'));
    const stage = aStage({ handle, policy: { tries: 3, tryDelaysInMs: [5_000] } });
    stage.clock.at(2_000, () => stage.stop.abort());

    expect(await stage.deliver()).toEqual(aReport({ outcome: 'released', reason: 'stopping', durationInMs: 2_000 }));
    expect(stage.journal.steps()).toEqual(['claim', 'handle attempt 1 try 1', 'record released', 'abandon']);
  });
});

test('leaves a delivery to its lock that waits for the ledger', async () => {
  const stage = aStage({ faults: { claim: always(new LedgerError('unavailable', 'down')) } });
  stage.clock.at(2_000, () => stage.stop.abort());

  expect(await stage.deliver()).toEqual(
    aReport({ tries: 0, outcome: 'left', reason: 'stopping', durationInMs: 2_000 }),
  );
  expect(new Set(stage.journal.steps())).toEqual(new Set(['claim: fails']));
});

test('records a copy as unsent that waits for the broker', async () => {
  const handle = () => Promise.reject(new TransientError('down'));
  const stage = aStage({ handle, faults: { send: always(new SendError('unavailable', 'gone')) } });
  stage.clock.at(2_000, () => stage.stop.abort());

  expect(await stage.deliver()).toMatchObject({ outcome: 'left', reason: 'copy unsent: gone', durationInMs: 2_000 });
  expect(stage.journal.steps().at(-1)).toBe('record unsent 2');
});

test('finishes the steps after the handler that were under way', async () => {
  const stage = aStage({
    handle: async (_, { stop }) => {
      queueMicrotask(() => stop.abort());
    },
  });

  expect(await stage.deliver()).toEqual(aReport());
  expect(stage.journal.steps()).toEqual(['claim', 'handle attempt 1 try 1', 'record completed', 'complete']);
});
