import type { Refusal } from '../faults/faults.ts';
import type { Queue } from '../model/queue.ts';
import { takesSends } from '../model/queue-settings.ts';
import type { SessionHold } from '../model/session-table.ts';
import { parseAddress } from './address.ts';
import { cbsReply } from './cbs.ts';
import { MalformedMessageError } from './codec/encoded-value.ts';
import {
  type AmqpError,
  addressMissing,
  CONDITION,
  entityDisabled,
  entityNotFound,
  FAULT_ERROR,
} from './conditions.ts';
import type { LinkServices } from './link-services.ts';
import { carryOut, replyKindOf } from './management/operations.ts';
import { replyMessage } from './management/reply.ts';
import { ManagementRequest } from './management/request.ts';
import { accepted, rejected } from './outcomes.ts';
import { takeIn } from './producer-link.ts';
import type { IncomingDelivery } from './rhea-internals.ts';

/** Takes what a client has transferred on one link, and answers it. */
export type Take = (bytes: Buffer, format: number, delivery: IncomingDelivery) => void;

/** What taking needs of the connection. */
export type TakerOptions = {
  readonly services: LinkServices;
  /** The lock on that session which a link of the connection has, if one has. */
  holdOf(queue: Queue, sessionId: string): SessionHold | undefined;
  /** Sends a reply on the link that the request names. */
  reply(request: ManagementRequest, message: object): void;
};

/** What becomes of transfers to an address, or why nothing can be sent there. */
export function takerFor(text: string, options: TakerOptions): Take | AmqpError {
  const { namespace, newMessageId, faults } = options.services;
  if (text === '') return addressMissing;
  const address = parseAddress(text);
  if (address.kind === 'cbs') return requests((request) => options.reply(request, cbsReply(request)));
  const entity = namespace.find(address.path);
  if (entity === undefined) return entityNotFound(text);
  const { inlet } = entity;
  const queue = entity.kind === 'queue' ? entity : undefined;
  const subscription = namespace.findSubscription(address.path);
  if (address.kind === 'management') {
    const holdOf = (sessionId: string) => (queue === undefined ? undefined : options.holdOf(queue, sessionId));
    const managed = { inlet, queue, subscription, holdOf, newMessageId };
    return requests((request) => {
      const kind = replyKindOf(request);
      const refusal = kind === 'schedule' ? faults.takeRefusal() : undefined;
      const reply = refusal === undefined ? carryOut(request, managed) : refusedReply(refusal);
      faults.reply(kind, () => options.reply(request, replyMessage(reply, request.id)));
    });
  }
  if (subscription !== undefined || (queue !== undefined && queue.deadLetterQueue === undefined)) {
    const description = `Messages cannot be sent to '${text}': it is a subscription or a dead-letter queue.`;
    return { condition: CONDITION.notAllowed, description };
  }
  if (!takesSends(entity.settings.status ?? 'Active')) return entityDisabled(text);
  if (faults.refusesSenders) return FAULT_ERROR.Unauthorized;
  return (bytes, format, delivery) => {
    const refusal = faults.takeRefusal();
    const error = refusal === undefined ? takeIn({ inlet, newMessageId }, bytes, format) : FAULT_ERROR[refusal];
    faults.reply('send', () => delivery.update(true, error === undefined ? accepted() : rejected(error)));
  };
}

function requests(take: (request: ManagementRequest) => void): Take {
  return (bytes, _format, delivery) => {
    try {
      const request = new ManagementRequest(bytes);
      delivery.update(true, accepted());
      take(request);
    } catch (error) {
      if (!(error instanceof MalformedMessageError)) throw error;
      delivery.update(true, rejected({ condition: CONDITION.decodeError, description: error.message }));
    }
  };
}

function refusedReply(refusal: Refusal) {
  const status = refusal === 'Unauthorized' ? 401 : 503;
  return { kind: 'failed', status, error: FAULT_ERROR[refusal] } as const;
}
