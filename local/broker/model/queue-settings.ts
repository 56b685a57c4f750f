/** Which way an entity is open. */
export const ENTITY_STATUSES = ['Active', 'Disabled', 'SendDisabled', 'ReceiveDisabled'] as const;
export type EntityStatus = (typeof ENTITY_STATUSES)[number];

export function takesSends(status: EntityStatus): boolean {
  return status === 'Active' || status === 'ReceiveDisabled';
}

export function givesMessages(status: EntityStatus): boolean {
  return status === 'Active' || status === 'SendDisabled';
}

/** How a queue or a subscription behaves. Durations are in milliseconds; `Infinity` means without end. */
export type QueueSettings = {
  readonly lockDurationInMs: number;
  /** Deliveries after which a message is dead-lettered; at least 1. */
  readonly maxDeliveryCount: number;
  /** Time to live of a message that states none, and the cap on one that does. */
  readonly defaultTimeToLiveInMs: number;
  /** Whether an expired message goes to the dead-letter queue; it is dropped otherwise. */
  readonly deadLetteringOnMessageExpiration: boolean;
  /** `undefined` where the entity does not detect duplicates. */
  readonly duplicateDetectionWindowInMs: number | undefined;
  readonly requiresSession: boolean;
  /** Path of the entity that gets every message in place of this one. */
  readonly forwardTo: string | undefined;
  /** Path of the entity that gets every dead letter in place of this one's dead-letter queue. */
  readonly forwardDeadLetteredMessagesTo: string | undefined;
  /** Bytes that one message may have, as it is encoded. */
  readonly maxMessageSizeInBytes: number;
  /** Bytes that the entity may hold before it refuses sends. */
  readonly maxSizeInBytes: number;
  readonly status: EntityStatus;
};

/** The emulator's defaults. */
export const defaultQueueSettings: QueueSettings = {
  lockDurationInMs: 60_000,
  maxDeliveryCount: 3,
  defaultTimeToLiveInMs: 3_600_000,
  deadLetteringOnMessageExpiration: false,
  duplicateDetectionWindowInMs: undefined,
  requiresSession: false,
  forwardTo: undefined,
  forwardDeadLetteredMessagesTo: undefined,
  maxMessageSizeInBytes: 256 * 1024,
  maxSizeInBytes: 100 * 1024 * 1024,
  status: 'Active',
};

/** A dead-letter queue: nothing expires, nothing is counted out, nothing moves on, whatever its parent does. */
export function deadLetterSettings(parent: QueueSettings): QueueSettings {
  return {
    ...parent,
    maxDeliveryCount: Number.POSITIVE_INFINITY,
    defaultTimeToLiveInMs: Number.POSITIVE_INFINITY,
    deadLetteringOnMessageExpiration: false,
    duplicateDetectionWindowInMs: undefined,
    requiresSession: false,
    forwardTo: undefined,
    forwardDeadLetteredMessagesTo: undefined,
  };
}
