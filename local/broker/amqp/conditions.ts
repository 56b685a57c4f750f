import type { Refusal as FaultRefusal } from '../faults/faults.ts';
import type { RefusalReason } from '../model/outcomes.ts';

/** An AMQP error as a client sees it. */
export type AmqpError = { readonly condition: string; readonly description: string };

/** The service's error conditions that the broker gives. */
export const CONDITION = {
  internalError: 'amqp:internal-error',
  notFound: 'amqp:not-found',
  notAllowed: 'amqp:not-allowed',
  notImplemented: 'amqp:not-implemented',
  decodeError: 'amqp:decode-error',
  invalidField: 'amqp:invalid-field',
  messageTooLarge: 'amqp:link:message-size-exceeded',
  resourceLimit: 'amqp:resource-limit-exceeded',
  entityNotFound: 'com.microsoft:entity-not-found',
  unauthorized: 'amqp:unauthorized-access',
  serverBusy: 'com.microsoft:server-busy',
  argument: 'com.microsoft:argument-error',
  argumentOutOfRange: 'com.microsoft:argument-out-of-range',
  entityDisabled: 'com.microsoft:entity-disabled',
  messageLockLost: 'com.microsoft:message-lock-lost',
  messageNotFound: 'com.microsoft:message-not-found',
  sessionLockLost: 'com.microsoft:session-lock-lost',
  sessionCannotBeLocked: 'com.microsoft:session-cannot-be-locked',
  timeout: 'com.microsoft:timeout',
  deadLetter: 'com.microsoft:dead-letter',
  entityExists: 'com.microsoft:entity-already-exists',
} as const;

/** The client library recognises this wording, not the condition. */
export function entityNotFound(address: string): AmqpError {
  return { condition: CONDITION.notFound, description: `The messaging entity '${address}' could not be found.` };
}

/** The answer to a link, or a request, that the status of an entity does not permit. */
export function entityDisabled(address: string): AmqpError {
  const description = `The messaging entity '${address}' is disabled, in full or for this operation.`;
  return { condition: CONDITION.entityDisabled, description };
}

/** The answer to a link to the coordinator of transactions, or to nowhere. */
export const addressMissing: AmqpError = {
  condition: CONDITION.notImplemented,
  description: 'A link needs the address of an entity. Transactions are not supported.',
};

export const messageLockLost: AmqpError = {
  condition: CONDITION.messageLockLost,
  description:
    'The lock supplied is invalid. Either the lock expired, or the message has already been removed from the queue.',
};

export const sessionLockLost: AmqpError = {
  condition: CONDITION.sessionLockLost,
  description: 'The session lock was lost. Request a new session receiver.',
};

/** The errors of faults that were asked for. */
export const FAULT_ERROR: Record<FaultRefusal, AmqpError> = {
  Unauthorized: {
    condition: CONDITION.unauthorized,
    description: "Unauthorized access. 'Send' claim(s) are required to perform this operation.",
  },
  ServerBusy: {
    condition: CONDITION.serverBusy,
    description: 'The request was terminated because the entity is being throttled. Wait 10 seconds and try again.',
  },
};

const REFUSAL: Record<RefusalReason, string> = {
  sessionIdMissing: CONDITION.notAllowed,
  quotaExceeded: CONDITION.resourceLimit,
  entityDisabled: CONDITION.entityDisabled,
};

/** The error that answers a send which the entity did not take. */
export function refusalError(reason: RefusalReason, detail: string): AmqpError {
  return { condition: REFUSAL[reason], description: detail };
}
