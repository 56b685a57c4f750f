import rhea from 'rhea';
import type { Inlet } from '../../model/inlet.ts';
import type { Settlement } from '../../model/outcomes.ts';
import type { Queue } from '../../model/queue.ts';
import { givesMessages } from '../../model/queue-settings.ts';
import type { SessionHold } from '../../model/session-table.ts';
import { deliveredBytes } from '../codec/delivered-bytes.ts';
import { uuidBytes } from '../codec/lock-token.ts';
import { WireMessage } from '../codec/wire-message.ts';
import { CONDITION, entityDisabled, messageLockLost, refusalError } from '../conditions.ts';
import { messageProblem, settlementProblem } from '../limits.ts';
import { propertiesOf } from '../settlement.ts';
import { ManagementError, type Reply } from './reply.ts';
import type { ManagementRequest } from './request.ts';

const { types } = rhea;
const LONG = 0x81;
const TIMESTAMP = 0x83;

/** Schedules every message of the request or none; answers with their sequence numbers. */
export function scheduleMessage(request: ManagementRequest, inlet: Inlet, newMessageId: () => string): Reply {
  const messages = request.maps('messages').map(({ message }) => {
    if (!Buffer.isBuffer(message)) throw argumentError("Each of 'messages' must hold a binary 'message'.");
    return WireMessage.from(message, newMessageId);
  });
  for (const message of messages) {
    const problem = messageProblem(message);
    if (problem !== undefined) return { kind: 'failed', status: 400, error: problem };
    if (message.scheduledUtc === undefined) throw argumentError('A message has no x-opt-scheduled-enqueue-time.');
  }
  const refusal = inlet.refusalOf(messages);
  if (refusal !== undefined) {
    return { kind: 'failed', status: 403, error: refusalError(refusal.reason, refusal.detail) };
  }
  const numbers = messages.map((message) => {
    const result = inlet.send(message, message.scheduledUtc);
    return result.kind === 'refused' ? 0 : result.sequenceNumber;
  });
  return { kind: 'done', body: { 'sequence-numbers': types.wrap_array(numbers, LONG, undefined) } };
}

/** Cancels every scheduled message that the request names, or none. */
export function cancelScheduledMessage(request: ManagementRequest, inlet: Inlet): Reply {
  const numbers = request.integers('sequence-numbers');
  const missing = numbers.find((number) => !inlet.scheduled.has(number));
  if (missing !== undefined) return messageNotFound(missing);
  for (const number of numbers) inlet.cancel(number);
  return { kind: 'done' };
}

export function renewLock(request: ManagementRequest, queue: Queue): Reply {
  const expirations: number[] = [];
  for (const lockToken of request.uuids('lock-tokens')) {
    const result = queue.renew(lockToken);
    if (result.kind === 'lockLost') return { kind: 'failed', status: 410, error: messageLockLost };
    expirations.push(result.lockedUntilUtc);
  }
  return { kind: 'done', body: { expirations: types.wrap_array(expirations, TIMESTAMP, undefined) } };
}

export function peekMessage(request: ManagementRequest, queue: Queue): Reply {
  const sessionId = request.optionalText('session-id');
  const found = queue.peek(request.integer('from-sequence-number'), request.integer('message-count'), sessionId);
  if (found.length === 0) return { kind: 'empty' };
  const messages = found.map((message) => {
    const { deliveryCount } = message;
    return types.wrap_map({ message: deliveredBytes(message, { deliveryCount, lockedUntilUtc: undefined }) });
  });
  return { kind: 'done', body: { messages } };
}

/** Hands over every deferred message that the request names, or none. */
export function receiveBySequenceNumber(request: ManagementRequest, queue: Queue, hold?: SessionHold): Reply {
  if (!givesMessages(queue.settings.status)) {
    return { kind: 'failed', status: 403, error: entityDisabled(queue.path) };
  }
  const numbers = request.integers('sequence-numbers');
  const mode = request.integer('receiver-settle-mode') === 0 ? 'receiveAndDelete' : 'peekLock';
  const missing = numbers.find((number) => !queue.isDeferred(number, hold));
  if (missing !== undefined) return messageNotFound(missing);
  const messages: unknown[] = [];
  for (const number of numbers) {
    const delivery = queue.receiveDeferred(number, mode, hold);
    if (delivery === undefined) return messageNotFound(number);
    const { message, lockToken, lockedUntilUtc, deliveryCount } = delivery;
    const marks = { deliveryCount, lockedUntilUtc: lockToken === undefined ? undefined : lockedUntilUtc };
    const entry: Record<string, unknown> = { message: deliveredBytes(message, marks) };
    if (lockToken !== undefined) entry['lock-token'] = types.wrap_uuid(uuidBytes(lockToken));
    messages.push(types.wrap_map(entry));
  }
  return { kind: 'done', body: { messages } };
}

export function updateDisposition(request: ManagementRequest, queue: Queue): Reply {
  const settlement = settlementOf(request);
  for (const lockToken of request.uuids('lock-tokens')) {
    const problem = settlementProblem(queue.locked(lockToken), settlement);
    if (problem !== undefined) return { kind: 'failed', status: 400, error: problem };
    const result = queue.settle(lockToken, settlement);
    switch (result.kind) {
      case 'settled':
        break;
      case 'lockLost':
        return { kind: 'failed', status: 410, error: messageLockLost };
      case 'unsupported':
        return { kind: 'failed', status: 400, error: { condition: CONDITION.notAllowed, description: result.detail } };
    }
  }
  return { kind: 'done' };
}

function settlementOf(request: ManagementRequest): Settlement {
  const properties = propertiesOf(request.typed('properties-to-modify'));
  const status = request.text('disposition-status');
  switch (status) {
    case 'completed':
      return { kind: 'complete' };
    case 'abandoned':
      return { kind: 'abandon', properties };
    case 'defered':
      return { kind: 'defer', properties };
    case 'suspended': {
      const reason = request.optionalText('deadletter-reason');
      return { kind: 'deadLetter', reason, description: request.optionalText('deadletter-description'), properties };
    }
    default:
      throw argumentError(`The disposition-status '${status}' is not known.`);
  }
}

function messageNotFound(sequenceNumber: number): Reply {
  const description = `Failed to find the message with the sequence number ${sequenceNumber}.`;
  return { kind: 'failed', status: 404, error: { condition: CONDITION.messageNotFound, description } };
}

function argumentError(text: string): ManagementError {
  return new ManagementError(400, CONDITION.argument, text);
}
