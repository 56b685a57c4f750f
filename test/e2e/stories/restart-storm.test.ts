import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Script } from '../support/director.ts';
import type { Story } from '../support/story.ts';
import { aTheatre, type Theatre } from '../support/theatre.ts';

const DEATHS = 10;

let theatre: Theatre;

beforeAll(async () => {
  theatre = await aTheatre();
});

afterAll(() => theatre?.stop());

test(`${DEATHS} processes killed in a row, each amid its work, lose and repeat nothing`, async () => {
  const story = await theatre.story('storm');
  // What the first process has compiled, the others need not.
  await story.startHost().then((host) => host.stop());
  await story.startHost({
    AzureFunctionsJobHost__extensions__serviceBus__maxConcurrentCalls: '4',
    // The storm is none of the events' fault.
    RETRY__SCRIPTED__CRASH_LIMIT: '8',
    // A short lease is soon taken over; who is late for it on a slow machine has attempts enough.
    RETRY__SCRIPTED__HANDLER_TIMEOUT_IN_MS: '1000',
    RETRY__SCRIPTED__ATTEMPTS: '20',
  });
  const work: Script = [[['charge'], ['work', 50], ['charge']]];
  await story.send(Object.fromEntries(Array.from({ length: 120 }, (_, n) => [`event-${n}`, work])));

  const killed = new Set<number>();
  while (killed.size < DEATHS) {
    await story.until(() => expect(aWorkingProcess(story, killed)).toBeDefined());
    const pid = aWorkingProcess(story, killed) as number;
    process.kill(pid, 'SIGKILL');
    killed.add(pid);
  }
  const { charges, events } = await story.end();

  expect(charges).toBe(events);
  const pids = new Set(story.runs().map(({ pid }) => pid));
  expect([...killed].filter((pid) => pids.has(pid))).toHaveLength(DEATHS);
});

/** A process that has done something and is about to do more. */
function aWorkingProcess(story: Story, killed: ReadonlySet<number>): number | undefined {
  const done = new Set(story.reports.filter(({ outcome }) => outcome === 'succeeded').map(({ eventId }) => eventId));
  const alive = story.runs().filter(({ pid }) => !killed.has(pid));
  const hasDone = alive.some(({ eventId }) => done.has(eventId));
  return hasDone ? alive.find(({ eventId }) => !done.has(eventId))?.pid : undefined;
}
