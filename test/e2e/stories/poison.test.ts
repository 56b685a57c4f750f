import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Script } from '../support/director.ts';
import { aTheatre, type Theatre } from '../support/theatre.ts';

let theatre: Theatre;

beforeAll(async () => {
  theatre = await aTheatre();
});

afterAll(() => theatre?.stop());

test('one of 16 that kills its process each time ends as PoisonMessage, its 15 siblings complete', async () => {
  const story = theatre.story('one-bad');
  // Whoever is hit a second time, at no matter what, is poison then.
  await story.startHost({ RETRY__SCRIPTED__CRASH_LIMIT: '2' });
  const sibling: Script = [[['waitFor', 'never']], [['work', 500], ['charge']]];
  const siblings = Object.fromEntries(Array.from({ length: 15 }, (_, n) => [`sibling-${n}`, sibling]));
  await story.send({ ...siblings, killer: [[['waitFor', 'all run'], ['kill']], [['kill']]] });

  await story.until(() => expect(story.runs()).toHaveLength(16));
  theatre.director.open('all run');
  const { deadLetters } = await story.end({ killer: 'PoisonMessage' });

  expect(deadLetters).toEqual({ PoisonMessage: 1 });
  expect(story.runs('killer')).toHaveLength(2);
});
