import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../support/target.ts';
import { aTheatre, type StorySettings, type Theatre } from '../support/theatre.ts';

let theatre: Theatre;

beforeAll(async () => {
  theatre = await aTheatre();
});

afterAll(() => theatre?.stop());

const SESSIONS: StorySettings = {
  queue: { requiresSession: true },
  settings: { SESSIONS: 'true', AzureFunctionsJobHost__extensions__serviceBus__sessionIdleTimeout: '00:00:01' },
};

describe('on a session queue, by a policy that says that order does not matter', () => {
  test('three sessions charge each event once, and a copy stays in its session', async () => {
    const story = await theatre.story('sessions', SESSIONS);
    await story.send({ 'a-1': [[['charge']]], 'a-2': [[['charge']]] }, 'a');
    await story.send({ 'b-1': [[['failTransient']], [['charge']]], 'b-2': [[['charge']]] }, 'b');
    await story.send({ 'c-1': [[['failPermanent']]], 'c-2': [[['charge']]] }, 'c');
    await story.startHost();
    await story.until(() => expect(story.outcomes('b-1')).toContain('redelivered'));
    const copies = (await theatre.messages('sessions')).filter(({ state }) => state === 'scheduled');

    const { runs } = await story.end({ 'c-1': 'NotEver' });

    expect(
      copies.map(({ sessionId, applicationProperties }) => [sessionId, applicationProperties?.['retry-attempt']]),
    ).toEqual([['b', 1]]);
    expect(runs).toBe(7);
    expect(story.outcomes('b-1')).toEqual(['redelivered', 'succeeded']);
    for (const name of ['a-1', 'a-2', 'b-2', 'c-2']) expect(story.outcomes(name)).toEqual(['succeeded']);
    // What fails holds nobody up: those behind it in its session run first.
    const order = story.reports.map(({ eventId, outcome }) => `${eventId} ${outcome}`);
    expect(order.indexOf('sessions.b-2 succeeded')).toBeLessThan(order.indexOf('sessions.b-1 succeeded'));
  });

  test('a lock on a session that is lost amid a handler settles nothing, and the next acceptance goes on', async (context) => {
    needs(context, 'faults');
    const story = await theatre.story('lost-session', SESSIONS);
    // Longer than a host takes to start, or the handler gives up; no longer, for the lease is as long.
    const patient = { RETRY__SCRIPTED__HANDLER_TIMEOUT_IN_MS: '10000' };
    await story.startHost(patient);
    await story.send({ first: [[['waitFor', 'session lost'], ['charge']]], second: [[['charge']]] }, 's');
    await story.until(() => expect(story.runs()).toHaveLength(1));

    // Whose link is cut has lost its session, and the host may not settle what it has of it.
    theatre.broker.dropConnections();
    await story.startHost(patient);
    await story.until(() => expect(story.outcomes('first')).toContain('deferred'));
    theatre.director.open('session lost');
    const { runs, outcomes } = await story.end();

    expect(runs).toBe(2);
    // The other host found the event at work and put it off; whoever ran it sent no copy.
    expect(outcomes).toEqual({ deferred: 1, succeeded: 2, duplicate: 1 });
    expect(story.outcomes('first')).toContain('succeeded');
    expect(story.outcomes('first').at(-1)).toBe('duplicate');
    expect(story.outcomes('second')).toEqual(['succeeded']);
  });
});
