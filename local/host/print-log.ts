import type { LogEntry } from './log-entry.ts';

/** Prints a line of the host's log for a person. */
export function printLog({ level, category, message }: LogEntry): void {
  process.stdout.write(`[${new Date().toISOString()}] ${level.toUpperCase().padEnd(11)} ${category}: ${message}\n`);
}
