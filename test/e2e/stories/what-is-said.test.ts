import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Script } from '../support/director.ts';
import type { Story } from '../support/story.ts';
import { aTheatre, type Theatre } from '../support/theatre.ts';

let theatre: Theatre;

beforeAll(async () => {
  theatre = await aTheatre();
});

afterAll(() => theatre?.stop());

/** The lines that hold this text, and the invocations that they belong to. */
const saying = (story: Story, text: string) =>
  story.log
    .filter(({ message }) => message.includes(text))
    .map(({ category, functionName, invocationId }) => ({ category, functionName, invocationId }));

test('what handlers say at the same time appears once, with the invocation it belongs to', async () => {
  const story = await theatre.story('saying');
  await story.startHost({ RETRY__SCRIPTED__HANDLER_TIMEOUT_IN_MS: '60000' });
  const saysIt: Script = [[['waitFor', 'all run'], ['say'], ['work', 10], ['say'], ['charge']]];
  const names = ['one', 'two', 'three', 'four'];
  await story.send(Object.fromEntries(names.map((name) => [name, saysIt])));
  await story.until(() => expect(story.runs()).toHaveLength(names.length));
  theatre.director.open('all run');
  await story.end();

  const functionName = 'scripted';
  const invocations = names.map((name) => {
    const eventId = story.eventId(name);
    const [reported] = saying(story, `"eventId":"${eventId}"`);
    const invocationId = reported?.invocationId;
    const own = { functionName, invocationId };
    expect(saying(story, `log of ${eventId}`)).toEqual(
      [1, 2].map(() => ({ category: 'Function.scripted.User', ...own })),
    );
    expect(saying(story, `console of ${eventId}`)).toEqual(
      [1, 2].map(() => ({ category: 'Host.Function.Console', ...own })),
    );
    return invocationId;
  });
  expect(new Set(invocations).size).toBe(names.length);
  expect(invocations).not.toContain(undefined);
});
