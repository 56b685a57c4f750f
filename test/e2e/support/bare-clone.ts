import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { project } from './project.ts';

const git = (folder: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-C', folder, '-c', 'core.hooksPath=/dev/null', ...args], { encoding: 'utf8' });

/** Whether there is something to clone: a downloaded archive has no history. */
export const isRepository = existsSync(join(project, '.git'));

/**
 * Makes an empty folder a clone of the project as it would be if all of it were committed now: what git ignores, the
 * installed packages first of all, is not there.
 */
export async function bareClone(to: string): Promise<void> {
  const files = git(project, 'ls-files', '-z', '--cached', '--others', '--exclude-standard').split('\0');
  // Files only: an install in the clone must not reach through a link into what others use.
  const present = files.filter((file) => lstatSync(join(project, file), { throwIfNoEntry: false })?.isFile());
  await Promise.all(present.map((file) => cp(join(project, file), join(to, file))));
  git(to, 'init', '--quiet');
  git(to, 'add', '--all');
  git(to, '-c', 'user.name=test', '-c', 'user.email=test@localhost', 'commit', '--quiet', '--message=clone');
}

/** What a clone has that it did not have at first, a line each; what git ignores does not count. */
export const changesIn = (clone: string): string[] => git(clone, 'status', '--porcelain').split('\n').filter(Boolean);
