import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Script } from '../support/director.ts';
import { aTheatre, type Theatre } from '../support/theatre.ts';

let theatre: Theatre;

beforeAll(async () => {
  theatre = await aTheatre();
});

afterAll(() => theatre?.stop());

/** Another run waits for the lease of one that died: handler time and 10 s more. So all of them wait together. */
describe.concurrent('a process that dies in a handler', () => {
  test('by kill -9 after the effect: the event runs again, the effect does not happen again', async () => {
    const story = await theatre.story('killed');
    await story.startHost();
    await story.send({ one: [[['charge'], ['kill']], [['charge']]] });

    const { runs } = await story.end();

    expect(runs).toBe(2);
    expect(story.runs('one').map(({ attempt }) => attempt)).toEqual([1, 1]);
    expect(story.outcomes('one').at(-1)).toBe('succeeded');
    expect(story.outcomes('one').slice(0, -1)).toEqual(story.outcomes('one').slice(0, -1).fill('deferred'));
    const calls = theatre.provider.calls.filter(({ charge }) => charge.orderId === story.eventId('one'));
    expect(calls.map(({ replayed }) => replayed)).toEqual([false, true]);
  });

  test('out of memory: the event runs again in a new process', async () => {
    const story = await theatre.story('out-of-memory');
    await story.startHost({ languageWorkers__node__arguments: '--max-old-space-size=96' });
    await story.send({ one: [[['growWithoutEnd']], [['charge']]] });

    await story.end();

    const [first, second] = story.runs('one').map(({ pid }) => pid);
    expect(story.runs('one')).toHaveLength(2);
    expect(second).not.toBe(first);
    expect(story.log.map(({ message }) => message).join('\n')).toContain('heap out of memory');
  });

  test('of an error that nobody catches: it is told once, with its invocation, and the event runs again', async () => {
    const story = await theatre.story('uncaught');
    await story.startHost();
    await story.send({ one: [[['say'], ['throwInTimer']], [['charge']]] });

    const { runs } = await story.end();

    expect(runs).toBe(2);
    const said = story.log.find(({ message }) => message === 'log of uncaught.one');
    expect(said?.invocationId).toBeDefined();
    expect(story.log.filter(({ message }) => message.includes('uncaught of uncaught.one'))).toEqual([
      {
        level: 'error',
        category: 'Worker',
        message: expect.stringMatching(/^Worker uncaught exception: Error: uncaught of uncaught\.one\n {4}at /),
        functionName: 'scripted',
        invocationId: said?.invocationId,
      },
    ]);
  });

  test('each time: one such message of 16 ends as PoisonMessage, its 15 siblings complete', async () => {
    const story = await theatre.story('one-bad');
    // Whoever is hit a second time, at no matter what, is poison then.
    await story.startHost({ RETRY__SCRIPTED__CRASH_LIMIT: '2', RETRY__SCRIPTED__ATTEMPTS: '20' });
    const sibling: Script = [[['waitFor', 'never']], [['work', 200], ['charge']]];
    const siblings = Object.fromEntries(Array.from({ length: 15 }, (_, n) => [`sibling-${n}`, sibling]));
    await story.send({ ...siblings, killer: [[['waitFor', 'all run'], ['kill']], [['kill']]] });

    await story.until(() => expect(story.runs()).toHaveLength(16));
    theatre.director.open('all run');
    const { deadLetters } = await story.end({ killer: 'PoisonMessage' });

    expect(deadLetters).toEqual({ PoisonMessage: 1 });
    expect(story.runs('killer')).toHaveLength(2);
  });
});
