import type { SendResult } from './outcomes.ts';
import type { StoredMessage } from './stored-message.ts';

/** How a message moves between entities: when, and from whose dead letters if it is one. */
export type Transfer = { readonly instantUtc: number; readonly deadLetterSource?: string };

/** A queue or a topic, as that to which messages are forwarded. */
export interface ForwardTarget {
  /** Takes in a message that comes from another entity, with a new sequence number. What settlements added to it stays. */
  transfer(from: StoredMessage, transfer: Transfer): SendResult;
}
