import { describe, expect, test } from 'vitest';
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

    const reports = await Promise.all([
      stage.deliver(other('B', 10)),
      stage.deliver(other('C', 11)),
      stage.deliver(secondDelivery()),
      stage.deliver(other('D', 12)),
    ]);

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

  test('is given back where its lease does not leave it the time', async () => {
    const { stage, ended } = await besideANeighbour(33_000);

    const [suspect] = await ended;

    expect(suspect).toEqual(
      aReport({ deliveryCount: 2, tries: 0, outcome: 'left', reason: 'no turn to run', durationInMs: 30_000 }),
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
});
