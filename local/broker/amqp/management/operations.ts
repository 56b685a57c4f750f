import type { ReplyKind } from '../../faults/faults.ts';
import { SqlError } from '../../model/filter/sql-lexer.ts';
import type { Inlet } from '../../model/inlet.ts';
import type { Queue } from '../../model/queue.ts';
import type { SessionHold, SessionTable } from '../../model/session-table.ts';
import type { Subscription } from '../../model/topic.ts';
import { MalformedMessageError } from '../codec/encoded-value.ts';
import { CONDITION, sessionLockLost } from '../conditions.ts';
import {
  cancelScheduledMessage,
  peekMessage,
  receiveBySequenceNumber,
  renewLock,
  scheduleMessage,
  updateDisposition,
} from './message-operations.ts';
import { ManagementError, type Reply } from './reply.ts';
import type { ManagementRequest } from './request.ts';
import { addRule, enumerateRules, removeRule } from './rule-operations.ts';
import { getMessageSessions, getSessionState, renewSessionLock, setSessionState } from './session-operations.ts';

/** What a management request works on. */
export type ManagedEntity = {
  readonly inlet: Inlet;
  /** `undefined` on a topic. */
  readonly queue: Queue | undefined;
  readonly subscription: Subscription | undefined;
  /** The lock on that session which the client's connection has, if it has one. */
  holdOf(sessionId: string): SessionHold | undefined;
  newMessageId(): string;
};

type OnQueue = (request: ManagementRequest, queue: Queue, hold: SessionHold | undefined) => Reply;
type OnRules = (request: ManagementRequest, subscription: Subscription) => Reply;
type OnSession = (request: ManagementRequest, sessions: SessionTable, hold: SessionHold) => Reply;

const ON_QUEUE: Readonly<Record<string, OnQueue>> = {
  'com.microsoft:renew-lock': renewLock,
  'com.microsoft:peek-message': peekMessage,
  'com.microsoft:receive-by-sequence-number': receiveBySequenceNumber,
  'com.microsoft:update-disposition': updateDisposition,
};

const ON_SESSION: Readonly<Record<string, OnSession>> = {
  'com.microsoft:renew-session-lock': renewSessionLock,
  'com.microsoft:get-session-state': getSessionState,
  'com.microsoft:set-session-state': setSessionState,
};

const ON_RULES: Readonly<Record<string, OnRules>> = {
  'com.microsoft:add-rule': addRule,
  'com.microsoft:remove-rule': removeRule,
  'com.microsoft:enumerate-rules': enumerateRules,
};

/** What the reply to a request answers. */
export function replyKindOf({ operation }: ManagementRequest): ReplyKind {
  switch (operation) {
    case 'com.microsoft:schedule-message':
      return 'schedule';
    case 'com.microsoft:update-disposition':
      return 'settlement';
    default:
      return 'request';
  }
}

/** Carries out a management request. What is not supported is said so by name. */
export function carryOut(request: ManagementRequest, entity: ManagedEntity): Reply {
  try {
    switch (request.operation) {
      case 'com.microsoft:schedule-message':
        return scheduleMessage(request, entity.inlet, entity.newMessageId);
      case 'com.microsoft:cancel-scheduled-message':
        return cancelScheduledMessage(request, entity.inlet);
    }
    const { queue, subscription } = entity;
    const onRules = ON_RULES[request.operation];
    if (onRules !== undefined && subscription !== undefined) return onRules(request, subscription);
    const hold = request.has('session-id') ? entity.holdOf(request.text('session-id')) : undefined;
    const onQueue = ON_QUEUE[request.operation];
    if (onQueue !== undefined && queue !== undefined) return onQueue(request, queue, hold);
    const onSession = ON_SESSION[request.operation];
    if (onSession !== undefined && queue?.sessions !== undefined) {
      if (hold === undefined || hold.isOver) return { kind: 'failed', status: 410, error: sessionLockLost };
      return onSession(request, queue.sessions, hold);
    }
    if (request.operation === 'com.microsoft:get-message-sessions' && queue?.sessions !== undefined) {
      return getMessageSessions(request, queue.sessions);
    }
    return failed(501, CONDITION.notImplemented, `The operation '${request.operation}' is not supported here.`);
  } catch (error) {
    if (error instanceof ManagementError) return failed(error.status, error.condition, error.message);
    if (error instanceof SqlError) return failed(400, CONDITION.argument, error.message);
    if (error instanceof MalformedMessageError) return failed(400, CONDITION.decodeError, error.message);
    throw error;
  }
}

function failed(status: number, condition: string, description: string): Reply {
  return { kind: 'failed', status, error: { condition, description } };
}
