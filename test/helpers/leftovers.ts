import { expect, vi } from 'vitest';
import { ownChildren } from './processes.ts';

const AT_MOST = { timeout: 10_000, interval: 50 };

/** What of the system this process holds now: child processes, sockets and pipes, each by its kind. */
const held = (): string[] => [
  ...ownChildren().map(({ command }) => `process ${command}`),
  ...process
    .getActiveResourcesInfo()
    .filter((kind) => /^(TCP|Process)/.test(kind))
    .sort(),
];

/**
 * Takes stock of processes and sockets.
 *
 * @returns waits until no more is held than was then, and fails where that does not come true
 */
export function takeStock(): () => Promise<void> {
  const before = held();
  // Not `expect.poll`, which works inside tests only.
  return () => vi.waitFor(() => expect(withoutEach(held(), before)).toEqual([]), AT_MOST);
}

/** What is in a list more often than in the other. */
function withoutEach(list: readonly string[], others: readonly string[]): string[] {
  const left = [...list];
  for (const other of others) {
    const at = left.indexOf(other);
    if (at >= 0) left.splice(at, 1);
  }
  return left;
}
