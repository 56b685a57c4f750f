import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { processesOf } from '../helpers/processes.ts';
import { type Command, inCopy, npmStart, run, userEnvironment } from './support/command.ts';
import { AT_MOST } from './support/stage.ts';

/** By when in the life of `npm start` a signal comes, told from outside. */
const PHASES: Readonly<Record<string, (folder: string, command: Command) => boolean>> = {
  'the build': (folder) => processesOf(folder).some((each) => / \S*typescript\/bin\/tsc /.test(each.command)),
  'the start': (folder) => processesOf(folder).some((each) => /azurite/.test(each.command)),
  'the scenario': (_, command) => command.stdout().includes('attempt 1 of 4'),
};

/** Ctrl-C reaches every process of the terminal's foreground; a supervisor tells the one that it has started. */
const STOPS: Readonly<Record<string, (command: Command) => void>> = {
  'Ctrl-C': ({ child }) => process.kill(-(child.pid as number), 'SIGINT'),
  'SIGTERM to npm': ({ child }) => process.kill(child.pid as number, 'SIGTERM'),
};

const CASES = Object.keys(PHASES).flatMap((phase) => Object.keys(STOPS).map((stop) => ({ phase, stop })));

// Where processes cannot be looked at, nobody knows when to stop them, nor what is left.
describe.skipIf(!existsSync('/proc/self/environ'))('told to end at any time', () => {
  test.concurrent.each(CASES)(
    '$stop during $phase leaves no process behind, and is no success',
    async ({ phase, stop }) => {
      await inCopy(async (folder) => {
        const command = npmStart(folder, []);
        const reached = PHASES[phase] as (folder: string, command: Command) => boolean;
        await vi.waitFor(() => expect(reached(folder, command)).toBe(true), AT_MOST);

        STOPS[stop]?.(command);

        expect(await command.ended).not.toBe(0);
        expect(command.stdout()).not.toContain('every outcome is as expected');
      });
    },
  );

  test.concurrent('SIGTERM during the first install ends the install as well', async () => {
    await inCopy(async (folder) => {
      const programs = join(folder, 'programs');
      await mkdir(programs);
      // Stands in for an install that takes its time: what is tested is who gets told.
      await writeFile(join(programs, 'npm'), '#!/bin/sh\nexec sleep 600\n', { mode: 0o755 });
      await rm(join(folder, 'node_modules'));
      const { PATH } = userEnvironment(folder);

      const command = run(folder, ['node', 'local/bootstrap.mjs', 'echo', 'started'], {
        PATH: [programs, PATH].join(delimiter),
      });
      await vi.waitFor(() => expect(processesOf(folder).map((each) => each.command)).toContain('sleep 600'), AT_MOST);
      process.kill(command.child.pid as number, 'SIGTERM');

      expect([await command.ended, command.stdout()]).toEqual([143, '']);
    });
  });
});
