import type { LastFailure } from '../rules/dead-letter.ts';
import type { Copy } from '../rules/redelivery.ts';
import { fitCopy } from '../rules/room.ts';
import type { Passage } from './passage.ts';
import { type Persisted, whileLockHolds } from './while-lock-holds.ts';

/** What came of a copy; `noRoom`: it was not sent, for the broker would refuse it. */
export type SentCopy = Persisted<void> | { readonly kind: 'noRoom'; readonly failure: LastFailure };

/** Sends a copy, cut to the room that the message leaves, again while the lock can be held. */
export async function sendCopy<Event>({ delivery, ports, invocation }: Passage<Event>, copy: Copy): Promise<SentCopy> {
  const fit = fitCopy(delivery, copy, ports.sender.maxMessageInBytes);
  if (fit.kind === 'tooLarge') return { kind: 'noRoom', failure: fit.failure };
  const { sendOutage } = ports.processWide;
  return whileLockHolds(ports, invocation, sendOutage, () => ports.sender.send(delivery, fit.copy));
}
