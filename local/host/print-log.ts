import type { LogEntry } from './log-entry.ts';

/** Prints a line of the host's log for a person; what is below `information` is left out. */
export function printLog({ level, category, message }: LogEntry): void {
  if (level === 'trace' || level === 'debug') return;
  process.stdout.write(`[${new Date().toISOString()}] ${level.toUpperCase().padEnd(11)} ${category}: ${message}\n`);
}
