import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** State of an established connection in `/proc/net/tcp`. */
const ESTABLISHED = '01';

/** How many connections a process has to a port of 127.0.0.1. Where there is no `/proc` none is found. */
export function connectionsTo(port: number, pid: number): number {
  const remote = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const inodes = linesOf('/proc/net/tcp')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , address, state]) => address === remote && state === ESTABLISHED)
    .map((fields) => fields[9]);
  const sockets = new Set(inodes.map((inode) => `socket:[${inode}]`));
  return filesOf(pid).filter((file) => sockets.has(file)).length;
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
}

/** A file may be closed while it is looked at. */
function filesOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
      } catch {
        return [];
      }
    });
  } catch {
    return [];
  }
}
