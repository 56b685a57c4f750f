import type { Properties } from './content.ts';
import type { StoredMessage } from './stored-message.ts';

/** Why a message is not taken in. */
export type RefusalReason = 'sessionIdMissing' | 'quotaExceeded' | 'entityDisabled';

/** What became of a send. A duplicate counts as sent: the sender is told so, with a sequence number that names nothing. */
export type SendResult =
  | { readonly kind: 'enqueued'; readonly sequenceNumber: number }
  | { readonly kind: 'scheduled'; readonly sequenceNumber: number }
  | { readonly kind: 'duplicate'; readonly sequenceNumber: number }
  | Refusal;

/** A send that changed nothing. */
export type Refusal = { readonly kind: 'refused'; readonly reason: RefusalReason; readonly detail: string };

/** The answer of an entity that is closed for sends. */
export function entityDisabled(path: string): Refusal {
  return { kind: 'refused', reason: 'entityDisabled', detail: `The messaging entity '${path}' is disabled for sends.` };
}

/** The answer of an entity that can hold no more. */
export function quotaExceeded(path: string, maxSizeInBytes: number): Refusal {
  const detail = `The maximum entity size has been reached or exceeded for '${path}': ${maxSizeInBytes} bytes.`;
  return { kind: 'refused', reason: 'quotaExceeded', detail };
}

/** The answer of an entity with sessions to a message that belongs to none. */
export const sessionIdMissing: Refusal = {
  kind: 'refused',
  reason: 'sessionIdMissing',
  detail:
    'The SessionId was not set on a message, and it cannot be sent to the entity. Entities that have session support enabled can only receive messages that have the SessionId set to a valid value.',
};

/** How a receiver takes messages: under a lock that it settles, or removed as they are handed over. */
export type ReceiveMode = 'peekLock' | 'receiveAndDelete';

/** One hand-over of a message. `lockToken` is absent in receive-and-delete mode. */
export type Delivery = {
  readonly message: StoredMessage;
  readonly lockToken: string | undefined;
  /** End of the lock in epoch milliseconds; 0 in receive-and-delete mode. */
  readonly lockedUntilUtc: number;
  /** Earlier deliveries that ended without success: 0 on the first. */
  readonly deliveryCount: number;
};

/** The present hand-over of a message that was just taken out. */
export function deliveryOf(message: StoredMessage): Delivery {
  const { lockToken, lockedUntilUtc, deliveryCount } = message;
  return { message, lockToken, lockedUntilUtc: lockToken === undefined ? 0 : lockedUntilUtc, deliveryCount };
}

/** What a receiver does with a message that it holds. `release` gives it back without counting the delivery. */
export type Settlement =
  | { readonly kind: 'complete' }
  | { readonly kind: 'abandon'; readonly properties?: Properties | undefined }
  | { readonly kind: 'defer'; readonly properties?: Properties | undefined }
  | {
      readonly kind: 'deadLetter';
      readonly reason?: string | undefined;
      readonly description?: string | undefined;
      readonly properties?: Properties | undefined;
    }
  | { readonly kind: 'release' };

/** `lockLost`: the token holds nothing (settled before, or the lock has ended), and nothing was changed. */
export type SettleResult =
  | { readonly kind: 'settled' }
  | { readonly kind: 'lockLost' }
  | { readonly kind: 'unsupported'; readonly detail: string };

/** The answer to a renewal; `lockedUntilUtc` in epoch milliseconds. */
export type RenewResult = { readonly kind: 'renewed'; readonly lockedUntilUtc: number } | { readonly kind: 'lockLost' };

/** Messages held by an entity, by where they stand. Locked messages count as active, as the service counts them. */
export type Counts = {
  readonly active: number;
  readonly scheduled: number;
  readonly deferred: number;
  readonly deadLetter: number;
  readonly transferDeadLetter: number;
};
