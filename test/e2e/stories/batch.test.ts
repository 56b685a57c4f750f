import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Script } from '../support/director.ts';
import { needs } from '../support/target.ts';
import { aTheatre, type Theatre } from '../support/theatre.ts';

const LOCK_IN_MS = 30_000;
const BATCHES = {
  queue: { lockDurationInMs: LOCK_IN_MS },
  settings: {
    BATCH: 'true',
    // No lock is renewed in a batch, so the deliveries last for less of an outage.
    RETRY__SCRIPTED__OUTAGE_IN_MS: '60000',
    RETRY__SCRIPTED__HANDLER_TIMEOUT_IN_MS: `${LOCK_IN_MS - 5_000}`,
    RETRY__SCRIPTED__LOCK_DURATION_IN_MS: `${LOCK_IN_MS}`,
    AzureFunctionsJobHost__extensions__serviceBus__maxMessageBatchSize: '10',
  },
};
const CHARGE: Script = [[['charge']]];

const eventsNamed = (name: string, count: number): Record<string, Script> =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`${name}-${n}`, CHARGE]));

let theatre: Theatre;

beforeAll(async () => {
  theatre = await aTheatre();
});

afterAll(() => theatre?.stop());

describe.concurrent('in a batch', () => {
  // Field case M2.
  test('of ten, one transient and one permanent: eight complete, one copy, one dead letter', async () => {
    const story = await theatre.story('batch', BATCHES);
    await story.send({
      ...eventsNamed('good', 8),
      transient: [[['failTransient']], [['charge']]],
      permanent: [[['failPermanent']]],
    });
    await story.startHost();
    await story.until(() => expect(story.endsOfInvocations()).toHaveLength(1));

    // The one invocation ended as those do that return.
    expect(story.endsOfInvocations()).toEqual([expect.stringContaining('(Succeeded, ')]);
    const first = story.reports.slice(0, 10);
    expect(first.filter(({ outcome }) => outcome === 'succeeded')).toHaveLength(8);
    expect(story.reportsOf('transient')[0]).toMatchObject({ outcome: 'redelivered', reason: 'TransientError' });
    expect(story.reportsOf('permanent')[0]).toMatchObject({ outcome: 'dead-lettered', reason: 'NotEver' });

    const { runs } = await story.end({ permanent: 'NotEver' });
    expect(runs).toBe(11);
    expect(story.outcomes('transient')).toEqual(['redelivered', 'succeeded']);
  });

  // Field case E4.
  test('a lost lock on one touches no other', async (context) => {
    needs(context, 'theft');
    const story = await theatre.story('lost-lock', BATCHES);
    await story.send({ ...eventsNamed('good', 9), robbed: [[['waitFor', 'lost'], ['charge']]] });
    await story.startHost();
    await story.until(() => expect(story.runs()).toHaveLength(10));

    const { lockToken } = story.runs('robbed')[0] ?? { lockToken: '' };
    theatre.broker.namespace.queue('lost-lock').settle(lockToken, { kind: 'abandon' });
    theatre.director.open('lost');
    const { runs } = await story.end();

    expect(runs).toBe(10);
    for (const name of Object.keys(eventsNamed('good', 9))) expect(story.outcomes(name)).toEqual(['succeeded']);
    expect(story.outcomes('robbed')).toContain('succeeded');
    expect(story.outcomes('robbed').at(-1)).toBe('duplicate');
    expect(story.endsOfInvocations()).toEqual(
      story.endsOfInvocations().map(() => expect.stringContaining('(Succeeded, ')),
    );
  });
});
