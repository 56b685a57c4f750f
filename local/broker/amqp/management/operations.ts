import type { Inlet } from '../../model/inlet.ts';
import type { Queue } from '../../model/queue.ts';
import { MalformedMessageError } from '../codec/encoded-value.ts';
import { CONDITION } from '../conditions.ts';
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

/** What a management request works on. */
export type ManagedEntity = { readonly inlet: Inlet; readonly queue: Queue | undefined; newMessageId(): string };

type OnQueue = (request: ManagementRequest, queue: Queue) => Reply;

const ON_QUEUE: Readonly<Record<string, OnQueue>> = {
  'com.microsoft:renew-lock': renewLock,
  'com.microsoft:peek-message': peekMessage,
  'com.microsoft:receive-by-sequence-number': receiveBySequenceNumber,
  'com.microsoft:update-disposition': updateDisposition,
};

/** Carries out a management request. What is not supported is said so by name. */
export function carryOut(request: ManagementRequest, entity: ManagedEntity): Reply {
  try {
    switch (request.operation) {
      case 'com.microsoft:schedule-message':
        return scheduleMessage(request, entity.inlet, entity.newMessageId);
      case 'com.microsoft:cancel-scheduled-message':
        return cancelScheduledMessage(request, entity.inlet);
    }
    const onQueue = ON_QUEUE[request.operation];
    if (onQueue !== undefined && entity.queue !== undefined) return onQueue(request, entity.queue);
    return failed(501, CONDITION.notImplemented, `The operation '${request.operation}' is not supported here.`);
  } catch (error) {
    if (error instanceof ManagementError) return failed(error.status, error.condition, error.message);
    if (error instanceof MalformedMessageError) return failed(400, CONDITION.decodeError, error.message);
    throw error;
  }
}

function failed(status: number, condition: string, description: string): Reply {
  return { kind: 'failed', status, error: { condition, description } };
}
