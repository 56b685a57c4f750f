import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../support/target.ts';
import { aTheatre, type Theatre } from '../support/theatre.ts';

let theatre: Theatre;

beforeAll(async () => {
  theatre = await aTheatre();
});

afterAll(() => theatre?.stop());

describe.concurrent('a handler', () => {
  test('that hangs until its deadline fails alone, and its next attempt comes', async () => {
    const story = await theatre.story('hanging');
    await story.startHost();
    await story.send({ hanging: [[['waitForSignal']], [['charge']]], neighbour: [[['charge']]] });

    await story.end();

    expect(story.reportsOf('hanging').map(({ outcome, attempt, reason }) => [outcome, attempt, reason])).toEqual([
      ['redelivered', 1, 'HandlerTimeout'],
      ['succeeded', 2, undefined],
    ]);
    expect(story.outcomes('neighbour')).toEqual(['succeeded']);
    expect(new Set(story.runs().map(({ pid }) => pid)).size).toBe(1);
  });

  // Field case G6.
  test('that ignores its signal settles nothing and has its process replaced, once its neighbours have ended', async () => {
    const story = await theatre.story('ignoring');
    await story.startHost();
    await story.send({ ignoring: [[['ignoreSignal']], [['charge']]] });
    const neighbours: string[] = [];
    // Whenever the handler is given up, one of them runs.
    while (!story.reports.some(({ stillRuns }) => stillRuns)) {
      const name = `neighbour-${neighbours.length}`;
      await story.send({ [name]: [[['work', 1_000], ['charge']]] });
      neighbours.push(name);
      await story.until(() => {
        expect(story.runs(name)).toHaveLength(1);
        expect(neighbours.filter((each) => story.outcomes(each).length === 0).length).toBeLessThanOrEqual(2);
      });
    }

    const { runs } = await story.end();

    expect(story.outcomes('ignoring').filter((outcome) => outcome !== 'deferred')).toEqual(['left', 'succeeded']);
    expect(story.reportsOf('ignoring').map(({ attempt }) => attempt)).toEqual(story.outcomes('ignoring').map(() => 1));
    for (const name of neighbours) expect([name, ...story.outcomes(name)]).toEqual([name, 'succeeded']);
    expect(runs).toBe(neighbours.length + 2);
    const [first, second] = story.runs('ignoring').map(({ pid }) => pid);
    expect(second).not.toBe(first);
  });

  test('longer than the lock keeps it: the host renews it, and nobody else gets the message', async () => {
    const story = await theatre.story('renewed', { queue: { lockDurationInMs: 5_000 } });
    await Promise.all([1, 2].map(() => story.startHost({ RETRY__SCRIPTED__HANDLER_TIMEOUT_IN_MS: '30000' })));
    await story.send({ long: [[['work', 8_000], ['charge']]] });

    const { runs } = await story.end();

    expect(runs).toBe(1);
    expect(story.reportsOf('long').map(({ outcome, deliveryCount }) => [outcome, deliveryCount])).toEqual([
      ['succeeded', 1],
    ]);
  });

  test.for([
    { what: 'within its time', timeout: '20000', outcomes: ['succeeded'] },
    { what: 'beyond its time', timeout: '1000', outcomes: ['redelivered', 'succeeded'] },
  ])('that blocks the event loop for three locks, $what, loses nothing', async ({ timeout, outcomes }, context) => {
    needs(context, 'shortLocks');
    // Shorter than the service permits, so that a block of 3 s is long.
    const story = await theatre.story(`blocking-${timeout}`, { queue: { lockDurationInMs: 1_000 } });
    await story.startHost({ RETRY__SCRIPTED__HANDLER_TIMEOUT_IN_MS: timeout });
    await story.send({
      blocking: [[['block', 3_000], ['charge']], [['charge']]],
      one: [[['charge']]],
      two: [[['work', 100], ['charge']]],
    });

    await story.end();

    // On a slow machine a lock ends all the same: then the event is busy elsewhere, or done.
    const isRepeat = (outcome: string) => outcome === 'deferred' || outcome === 'duplicate';
    expect(story.outcomes('blocking').filter((outcome) => !isRepeat(outcome))).toEqual(outcomes);
  });
});
