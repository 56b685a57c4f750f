import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { aTemporaryFolder, removeFolder } from '../../helpers/temporary-folder.ts';
import type { Script } from '../support/director.ts';
import { project } from '../support/project.ts';
import type { Story } from '../support/story.ts';
import { aTheatre, SCRIPTED_APP, type Theatre } from '../support/theatre.ts';

let theatre: Theatre;

beforeAll(async () => {
  theatre = await aTheatre();
});

afterAll(() => theatre?.stop());

test('SIGTERM with 16 in flight gives each back once, uses no attempt, and leaves what is behind them', async () => {
  const story = await theatre.story('stopped', {
    // The host lets what runs go on for ten seconds before it tells the app.
    settings: { RETRY__SCRIPTED__HANDLER_TIMEOUT_IN_MS: '60000' },
    queue: { lockDurationInMs: 60_000 },
  });
  const untilTold: Script = [[['waitForSignal']], [['charge']]];
  await story.send({
    ...Object.fromEntries(Array.from({ length: 16 }, (_, n) => [`in-flight-${n}`, untilTold])),
    ...Object.fromEntries(Array.from({ length: 4 }, (_, n) => [`behind-${n}`, [[['charge']]]])),
  });
  const host = await startHostProcess(story);
  await story.until(() => expect(story.runs()).toHaveLength(16));
  const first = new Set(story.runs().map(({ eventId }) => eventId));

  host.kill('SIGTERM');
  expect(await once(host, 'close')).toEqual([0, null]);

  expect(story.reports).toHaveLength(16);
  expect(new Set(story.reports.map(({ eventId }) => eventId))).toEqual(first);
  expect(new Set(story.reports.map(({ outcome, reason }) => `${outcome}: ${reason}`))).toEqual(
    new Set(['released: stopping']),
  );
  const messages = await theatre.messages('stopped');
  const isFirst = ({ messageId }: (typeof messages)[number]) => first.has(String(messageId));
  expect(messages.map((message) => [message.state, message.deliveryCount])).toEqual(
    messages.map((message) => ['active', isFirst(message) ? 1 : 0]),
  );
  expect(messages).toHaveLength(20);

  await story.startHost();
  const { runs, attempts, outcomes } = await story.end();

  expect({ runs, attempts, outcomes }).toEqual({
    runs: 16 + 20,
    attempts: 1,
    outcomes: { released: 16, succeeded: 20 },
  });
});

/** The host as a program of its own, whose lines the story takes. */
async function startHostProcess(story: Story): Promise<ChildProcess> {
  const folder = await aTemporaryFolder('settings');
  onTestFinished(() => removeFolder(folder));
  const file = join(folder, 'local.settings.json');
  await writeFile(file, JSON.stringify({ IsEncrypted: false, Values: story.settings }));
  const program = join(project, 'local', 'host', 'main.ts');
  const host = spawn(process.execPath, [program, '--app', SCRIPTED_APP, '--settings', file], {
    env: { PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void host.kill('SIGKILL'));
  createInterface({ input: host.stdout }).on('line', (line) => {
    const [, level = '', category = '', message = ''] = /^\[\S+\] (\S+) +(\S+): (.*)$/.exec(line) ?? [];
    story.note({ level: level.toLowerCase() as 'information', category, message });
  });
  return host;
}
