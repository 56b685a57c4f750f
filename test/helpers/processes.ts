import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** A process as `/proc` shows it. Where there is no `/proc` none is found. */
export interface FoundProcess {
  readonly pid: number;
  readonly command: string;
}

/** What has to do with a folder: stands in it, was started with it in its environment, or names it on its command line. */
export const processesOf = (folder: string): FoundProcess[] =>
  allProcesses().filter(({ pid, command }) => {
    const standsIn = `${orEmpty(() => readlinkSync(`/proc/${pid}/cwd`))}/`.startsWith(`${folder}/`);
    return standsIn || command.includes(folder) || orEmpty(() => textOf(pid, 'environ')).includes(folder);
  });

/** The processes that this one has started and that still run. */
export const ownChildren = (): FoundProcess[] =>
  allProcesses().filter(({ pid }) => {
    // The name, in brackets, may hold anything; state and parent follow it.
    const [state, parent] = orEmpty(() => textOf(pid, 'stat'))
      .replace(/^.*\) /s, '')
      .split(' ');
    return state !== 'Z' && Number(parent) === process.pid;
  });

const allProcesses = (): FoundProcess[] =>
  orNone(() => readdirSync('/proc'))
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => ({ pid: Number(pid), command: orEmpty(() => textOf(Number(pid), 'cmdline')).trim() }));

const textOf = (pid: number, file: string): string =>
  readFileSync(`/proc/${pid}/${file}`, 'utf8').replaceAll('\0', ' ');

/** A process may end while it is looked at; another user's cannot be looked into. */
function orEmpty(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}

function orNone(read: () => string[]): string[] {
  try {
    return read();
  } catch {
    return [];
  }
}
