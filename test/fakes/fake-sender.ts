import type { Sender } from '../../functions/core/pipeline/ports.ts';
import { PROPERTY } from '../../functions/core/rules/envelope.ts';
import type { Copy } from '../../functions/core/rules/redelivery.ts';
import { type Faults, underFaults } from './faults.ts';
import type { Journal } from './journal.ts';

export interface FakeSender extends Sender {
  /** Copies that were accepted, by MessageId: one that is sent again is no other. */
  readonly accepted: ReadonlyMap<string, Copy>;
}

/** Accepts copies. Its step is `send attempt n` for a redelivery to attempt n, `send deferral k` for the k-th deferral. */
export function fakeSender(journal: Journal, faults: Faults): FakeSender {
  const accepted = new Map<string, Copy>();
  const call = underFaults(journal, faults);
  return {
    accepted,
    send: (_delivery, copy) =>
      call(nameOf(copy), async () => {
        accepted.set(copy.messageId, copy);
      }),
  };
}

function nameOf({ set }: Copy): string {
  const deferrals = set.get(PROPERTY.deferrals);
  return deferrals
    ? `send deferral ${deferrals.value}`
    : `send attempt ${Number(set.get(PROPERTY.attempt)?.value) + 1}`;
}
