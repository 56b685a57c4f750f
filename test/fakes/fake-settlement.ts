import type { Settlement } from '../../functions/core/pipeline/ports.ts';
import type { DeadLetter } from '../../functions/core/rules/dead-letter.ts';
import { type Faults, underFaults } from './faults.ts';
import type { Journal } from './journal.ts';

export interface FakeSettlement extends Settlement {
  /** What became of each lock. */
  readonly settled: ReadonlyMap<string, 'completed' | 'abandoned' | DeadLetter>;
}

/** Settles each lock once, and refuses a second time, as the broker does. Renewing has faults of its own. */
export function fakeSettlement(journal: Journal, faults: Faults, renewFaults: Faults): FakeSettlement {
  const settled = new Map<string, 'completed' | 'abandoned' | DeadLetter>();
  const call = underFaults(journal, faults);
  const renew = underFaults(journal, renewFaults);
  const settle = (step: string, lockToken: string, as: 'completed' | 'abandoned' | DeadLetter) =>
    call(step, async () => {
      if (settled.has(lockToken)) throw new Error('MessageLockLost');
      settled.set(lockToken, as);
    });
  return {
    settled,
    complete: ({ lockToken }) => settle('complete', lockToken, 'completed'),
    abandon: ({ lockToken }) => settle('abandon', lockToken, 'abandoned'),
    deadLetter: ({ lockToken }, letter) => settle(`dead-letter ${letter.reason}`, lockToken, letter),
    renewLock: () => renew('renew lock', async () => {}),
  };
}
