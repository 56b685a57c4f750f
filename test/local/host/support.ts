import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { LogEntry } from '../../../local/host/log-entry.ts';
import type { InvocationRequest, TypedData } from '../../../local/host/worker-protocol.ts';

/** Directory of a small app under `test/fixtures/apps`. */
export function fixtureApp(name: string): string {
  return join(import.meta.dirname, '..', '..', 'fixtures', 'apps', name);
}

/** A request for a function whose trigger binding is called `input`. */
export function aRequest(functionId: string, data: TypedData = { string: 'x' }): InvocationRequest {
  return {
    invocationId: randomUUID(),
    functionId,
    inputData: [{ name: 'input', data }],
    triggerMetadata: {},
    traceContext: { traceParent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', traceState: '' },
    retryContext: null,
  };
}

/** Collects log entries. */
export function aLog(): { entries: LogEntry[]; onLog: (entry: LogEntry) => void; messages: () => string[] } {
  const entries: LogEntry[] = [];
  return { entries, onLog: (entry) => entries.push(entry), messages: () => entries.map(({ message }) => message) };
}

/** Whether a process with this id is there. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
