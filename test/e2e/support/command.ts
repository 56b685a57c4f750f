import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { delimiter } from 'node:path';
import { expect, vi } from 'vitest';
import { processesOf } from '../../helpers/processes.ts';
import { aTemporaryFolder, removeFolder } from '../../helpers/temporary-folder.ts';
import { copyProject } from './project.ts';
import { AT_MOST } from './stage.ts';

/** A command that was started in a folder, as a user would. */
export interface Command {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** The exit code, once all output has arrived; a signal that ended it counts as a shell counts it. */
  readonly ended: Promise<number>;
}

/** What npm and vitest put in the environment of this process would not be there for a user. */
const NOT_A_USERS =
  /^(npm_(?!config_)|npm_config_local_prefix$|INIT_CWD$|VITEST|NODE_ENV$|NODE_OPTIONS$|TEST$|RETRY__)/;

/** The environment of a user who works in this folder, the machine's own programs first. */
export function userEnvironment(folder: string, more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !NOT_A_USERS.test(name));
  const path = (process.env['PATH'] ?? '').split(delimiter).filter((entry) => !entry.includes('node_modules'));
  // By the last of these, each process that inherits it can be found.
  return { ...Object.fromEntries(own), PATH: path.join(delimiter), ...more, STARTED_FOR: folder };
}

/** Starts a command in a process group of its own, as a terminal does. */
export function run(folder: string, command: readonly string[], env: Readonly<Record<string, string>> = {}): Command {
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    cwd: folder,
    env: userEnvironment(folder, env),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  }
  const ended = once(child, 'close').then(([code]) => code ?? 128);
  return { child, stdout: () => output.stdout, stderr: () => output.stderr, ended };
}

/** `npm start` with these arguments, without npm's own lines. */
export const npmStart = (folder: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  run(folder, ['npm', 'start', '--silent', '--', ...args], env);

/**
 * Does something in a copy of the project, then makes sure that no process of it is left, and removes it. Whatever
 * fails, nothing runs on.
 */
export async function inCopy(act: (folder: string) => Promise<void>): Promise<void> {
  const folder = await aTemporaryFolder('project');
  try {
    await copyProject(folder);
    await act(folder);
    await expectNoProcessOf(folder);
  } finally {
    for (const { pid } of processesOf(folder)) process.kill(pid, 'SIGKILL');
    await removeFolder(folder);
  }
}

/** Waits until no process of the folder is left. */
export const expectNoProcessOf = (folder: string): Promise<void> =>
  vi.waitFor(() => expect(processesOf(folder)).toEqual([]), { ...AT_MOST, timeout: 10_000 });
