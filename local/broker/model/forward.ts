import type { DeadLetterCause } from './dead-letter-reasons.ts';
import type { Engine } from './engine.ts';
import type { RefusalReason } from './outcomes.ts';
import type { StoredMessage } from './stored-message.ts';

/** The service follows a chain of forwarding entities for so many steps. */
const MOST_HOPS = 4;

/** Where to, and when. */
export type Route = {
  readonly path: string;
  readonly instantUtc: number;
  /** Path of the entity that dead-lettered the message, when it travels as a dead letter. */
  readonly deadLetterSource?: string;
};

/** Why a message could not be forwarded, and in which of the sender's dead-letter queues it belongs. */
export type ForwardFailure = { readonly cause: DeadLetterCause; readonly into: 'deadLetter' | 'transfer' };

/** Moves a message on to another queue or topic; the caller has taken it out of its own. */
export function forward(engine: Engine, message: StoredMessage, route: Route): ForwardFailure | undefined {
  if (message.hops >= MOST_HOPS) return { cause: tooManyHops, into: 'deadLetter' };
  const target = engine.targetOf(route.path);
  if (target === undefined) return { cause: notFound(route.path), into: 'transfer' };
  const result = target.transfer(message, route);
  return result.kind === 'refused' ? { cause: refused(result.reason, result.detail), into: 'transfer' } : undefined;
}

const tooManyHops: DeadLetterCause = {
  reason: 'MaxTransferHopCountExceeded',
  description: `The maximum number of allowed hops when forwarding between queues has been exceeded. It is ${MOST_HOPS}.`,
};

function notFound(path: string): DeadLetterCause {
  return {
    reason: 'MessagingEntityNotFound',
    description: `The messaging entity '${path}', to which messages are forwarded, could not be found.`,
  };
}

const REASON: Record<RefusalReason, string> = {
  sessionIdMissing: 'Session ID is null',
  quotaExceeded: 'QuotaExceeded',
  entityDisabled: 'MessagingEntityDisabled',
};

function refused(reason: RefusalReason, description: string): DeadLetterCause {
  return { reason: REASON[reason], description };
}
