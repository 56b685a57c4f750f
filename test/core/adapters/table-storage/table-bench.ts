import { systemClock } from '../../../../functions/core/adapters/system-clock.ts';
import { connectTable } from '../../../../functions/core/adapters/table-storage/connect-table.ts';
import { tableStore } from '../../../../functions/core/adapters/table-storage/table-store.ts';
import type { Clock } from '../../../../functions/core/pipeline/ports.ts';
import type { Claimant } from '../../../../functions/core/rules/ledger.ts';
import { startAzurite } from '../../../../local/azurite.ts';
import { startFaultProxy } from './fault-proxy.ts';

type StoreClock = Pick<Clock, 'monotonicInMs' | 'sleep'>;

/** Azurite behind a proxy that can fail, and stores on it. */
export async function startTableBench() {
  const azurite = await startAzurite();
  const proxy = await startFaultProxy(azurite.tableEndpoint);
  const connectionString = azurite.connectionString.replace(azurite.tableEndpoint, proxy.tableEndpoint);
  return {
    proxy,
    connectionString,
    store: (tableName = 'ledger', clock: StoreClock = systemClock) =>
      tableStore({ table: connectTable({ kind: 'connectionString', connectionString }, tableName), clock }),
    async stop() {
      await proxy.stop();
      await azurite.stop();
    },
  };
}

/** A clock whose pauses end only when told, so that a time limit is reached without waiting for it. */
export function patientClock(): StoreClock & { endPauses(): void } {
  let pauses: (() => void)[] = [];
  return {
    monotonicInMs: systemClock.monotonicInMs,
    sleep: (_, signal) =>
      new Promise((resolve) => {
        pauses.push(resolve);
        signal?.addEventListener('abort', () => resolve());
      }),
    endPauses() {
      for (const end of pauses) end();
      pauses = [];
    },
  };
}

/** The first delivery of an event. */
export const aClaimant = (over: Partial<Claimant> = {}): Claimant => ({
  generation: 0,
  attempt: 1,
  owner: 'lock-1',
  origin: {
    messageId: 'order',
    sequenceNumber: '1',
    enqueuedUtc: Date.parse('2026-01-15T11:00:00.000Z'),
    carriesDeadLetterMarks: false,
    isOurCopy: false,
    notBeforeUtc: undefined,
  },
  ...over,
});
