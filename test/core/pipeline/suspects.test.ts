import { describe, expect, test } from 'vitest';
import { LedgerError } from '../../../functions/core/pipeline/ports.ts';
import { always } from '../../fakes/faults.ts';
import { aDelivery, anOrigin } from '../../fixtures/deliveries.ts';
import { aReport, aStage, claimElsewhere, KEY, lockToken, type Stage } from './a-stage.ts';

const secondDelivery = () => aDelivery({ lockToken: lockToken(2), deliveryCount: 2 });

describe('a run that ended without an outcome', () => {
  /** Takes the event over this often, each time after the lease of the run before. */
  async function crashes(stage: Stage, count: number): Promise<void> {
    for (let n = 0; n < count; n++) {
      const claimant = { generation: 0, attempt: 1, origin: anOrigin(), owner: lockToken(50 + n) };
      await stage.ledger.claim(KEY, claimant, 10_000, true);
      await stage.clock.advance(10_000);
    }
  }

  test('is taken over below the crash limit', async () => {
    const stage = aStage({ policy: { crashLimit: 3 } });
    await crashes(stage, 2);

    expect(await stage.deliver(secondDelivery())).toEqual(aReport({ deliveryCount: 2 }));
  });

  test('is dead-lettered as poison at the crash limit, and does not run', async () => {
    const stage = aStage({ policy: { crashLimit: 3 } });
    await crashes(stage, 3);

    const report = await stage.deliver(secondDelivery());

    expect(report).toMatchObject({ outcome: 'dead-lettered', reason: 'PoisonMessage', tries: 0 });
    expect(stage.journal.steps()).toEqual([
      'claim',
      'record deadLettering PoisonMessage',
      'dead-letter PoisonMessage',
      'record deadLettered',
    ]);
  });

  test('runs alone in its process once it is suspect', async () => {
    const running = new Set<string>();
    const together: string[][] = [];
    const stage = aStage({
      handle: async ({ eventId }, { clock }) => {
        running.add(eventId);
        together.push([...running]);
        await clock.sleep(1_000);
        running.delete(eventId);
      },
    });
    await crashes(stage, 1);
    const other = (messageId: string, n: number) =>
      aDelivery({ messageId, lockToken: lockToken(n), sequenceNumber: `${n}` });

    const first = [stage.deliver(other('B', 10)), stage.deliver(other('C', 11)), stage.deliver(secondDelivery())];
    await stage.clock.advance(500);
    const reports = await Promise.all([...first, stage.deliver(other('D', 12))]);

    expect(reports.map(({ outcome }) => outcome)).toEqual(Array(4).fill('succeeded'));
    expect(together).toEqual([['B'], ['B', 'C'], ['A'], ['D']]);
  });
});

describe('a suspect that waits to run alone', () => {
  /** A suspect delivery beside a neighbour that runs for this long. */
  async function besideANeighbour(runsForInMs: number) {
    const stage = aStage({ handle: ({ eventId }, { clock }) => clock.sleep(eventId === 'B' ? runsForInMs : 0) });
    await claimElsewhere(stage, 1_000);
    await stage.clock.advance(1_000);
    const neighbour = stage.deliver(aDelivery({ messageId: 'B', lockToken: lockToken(10) }));
    const suspect = stage.deliver(secondDelivery());
    return { stage, ended: Promise.all([suspect, neighbour]) };
  }

  test('is given back where its lock does not leave it the time', async () => {
    const { stage, ended } = await besideANeighbour(33_000);

    const [suspect] = await ended;

    expect(suspect).toEqual(
      aReport({ deliveryCount: 2, tries: 0, outcome: 'left', reason: 'no turn to run', durationInMs: 27_500 }),
    );
    expect(stage.record()).toMatchObject({ kind: 'released', takeovers: 1 });
    expect(stage.settlement.settled.get(lockToken(2))).toBe('abandoned');
  });

  test('is given back where the process is told to stop', async () => {
    const { stage, ended } = await besideANeighbour(4_000);
    stage.clock.at(3_000, () => stage.stop.abort());

    const [suspect] = await ended;

    expect(suspect).toMatchObject({ outcome: 'left', reason: 'no turn to run', durationInMs: 2_000 });
    expect(stage.settlement.settled.get(lockToken(2))).toBe('abandoned');
  });

  test('holds no lease, so that the end of its process counts as no crash of its own', async () => {
    const { stage, ended } = await besideANeighbour(4_000);
    await stage.clock.advance(1_000);

    expect(stage.record()).toMatchObject({ kind: 'released', takeovers: 1 });
    await ended;
    expect(stage.record()).toMatchObject({ kind: 'completed' });
  });

  test('has the whole time of its handler afterwards', async () => {
    const leftInMs: number[] = [];
    const stage = aStage({
      handle: async ({ eventId, deadlineUtc }, { clock }) => {
        if (eventId === 'A') leftInMs.push(deadlineUtc - clock.nowUtc());
        else await clock.sleep(20_000);
      },
    });
    await claimElsewhere(stage, 1_000);
    await stage.clock.advance(1_000);

    await Promise.all([
      stage.deliver(aDelivery({ messageId: 'B', lockToken: lockToken(10) })),
      stage.deliver(secondDelivery()),
    ]);

    expect(leftInMs).toEqual([30_000]);
  });

  test('that another process has done meanwhile does not run', async () => {
    const { stage, ended } = await besideANeighbour(4_000);
    stage.clock.at(1_000, async () => {
      const claimant = { generation: 0, attempt: 1, origin: anOrigin(), owner: lockToken(50) };
      const claim = await stage.ledger.claim(KEY, claimant, 10_000, true);
      if (claim.kind === 'run') await stage.ledger.record(claim.hold, { kind: 'completed', result: undefined });
    });

    const [suspect] = await ended;

    expect(suspect).toMatchObject({ outcome: 'duplicate', tries: 0 });
  });

  test('is left where the ledger does not take that it waits, and holds nobody up', async () => {
    const handled: string[] = [];
    const stage = aStage({
      handle: async ({ eventId }, { clock }) => {
        handled.push(eventId);
        await clock.sleep(4_000);
      },
      faults: { record: always(new LedgerError('unavailable', 'the store is down')) },
    });
    await claimElsewhere(stage, 1_000);
    await stage.clock.advance(1_000);
    void stage.deliver(aDelivery({ messageId: 'B', lockToken: lockToken(10) }));

    expect(await stage.deliver(secondDelivery())).toMatchObject({
      outcome: 'left',
      reason: 'no turn to run: storeDown',
    });
    await stage.deliver(aDelivery({ messageId: 'C', lockToken: lockToken(11) }));
    expect(handled).toEqual(['B', 'C']);
  });
});

test('a suspect runs only once the end of its neighbour is recorded', async () => {
  const stage = aStage({
    handle: ({ eventId }, { clock }) => clock.sleep(eventId === 'B' ? 4_000 : 0),
    faults: {
      record: (call) => (call === 1 ? { kind: 'fails', error: new LedgerError('unavailable', 'down') } : undefined),
    },
  });
  await claimElsewhere(stage, 1_000);
  await stage.clock.advance(1_000);

  await Promise.all([
    stage.deliver(aDelivery({ messageId: 'B', lockToken: lockToken(10) })),
    stage.deliver(secondDelivery()),
  ]);

  expect(stage.journal.steps().slice(2)).toEqual([
    'handle attempt 1 try 1',
    'record released',
    'record completed: fails',
    'record completed',
    'complete',
    'claim',
    'handle attempt 1 try 1',
    'record completed',
    'complete',
  ]);
});

describe('one that waits for a suspect', () => {
  /** A suspect that runs for this long, and another that comes meanwhile. */
  async function behindASuspect(runsForInMs: number) {
    const stage = aStage({ handle: ({ eventId }, { clock }) => clock.sleep(eventId === 'B' ? runsForInMs : 0) });
    const claimant = { generation: 0, attempt: 1, origin: anOrigin(), owner: lockToken(50) };
    await stage.ledger.claim({ ...KEY, eventId: 'B' }, claimant, 1_000, true);
    await stage.clock.advance(1_000);
    const suspect = stage.deliver(aDelivery({ messageId: 'B', lockToken: lockToken(10), deliveryCount: 2 }));
    await stage.clock.advance(1_000);
    const other = stage.deliver();
    await stage.clock.advance(1_000);
    return { stage, ended: Promise.all([suspect, other]) };
  }

  test('has claimed nothing yet', async () => {
    const { stage, ended } = await behindASuspect(4_000);

    expect(stage.record()).toBeUndefined();
    expect((await ended).map(({ outcome }) => outcome)).toEqual(['succeeded', 'succeeded']);
  });

  test('is given back where its lock does not leave it the time', async () => {
    const { stage, ended } = await behindASuspect(33_000);

    const [, other] = await ended;

    expect(other).toMatchObject({ outcome: 'left', reason: 'no turn to run', durationInMs: 27_500 });
    expect(stage.settlement.settled.get(aDelivery().lockToken)).toBe('abandoned');
  });
});
