import rhea from 'rhea';
import type { AmqpError } from '../conditions.ts';

const { types } = rhea;

/** The answer to a management request. A body is a map of AMQP values. */
export type Reply =
  | { readonly kind: 'done'; readonly body?: Record<string, unknown> }
  | { readonly kind: 'empty' }
  | { readonly kind: 'failed'; readonly status: number; readonly error: AmqpError };

/** A request that cannot be carried out; the dispatcher turns it into a reply. */
export class ManagementError extends Error {
  override readonly name = 'ManagementError';
  readonly status: number;
  readonly condition: string;

  constructor(status: number, condition: string, message: string) {
    super(message);
    this.status = status;
    this.condition = condition;
  }
}

/** The reply as a message. The condition always goes with a failure: clients map a bare 410 wrongly. */
export function replyMessage(reply: Reply, correlationId: unknown): object {
  switch (reply.kind) {
    case 'done':
      return message(correlationId, { statusCode: types.wrap_int(200), statusDescription: 'OK' }, reply.body ?? {});
    case 'empty':
      return message(correlationId, { statusCode: types.wrap_int(204), statusDescription: 'No Content' }, {});
    case 'failed': {
      const { status, error } = reply;
      const statusCode = types.wrap_int(status);
      const errorCondition = types.wrap_symbol(error.condition);
      return message(correlationId, { statusCode, statusDescription: error.description, errorCondition }, {});
    }
  }
}

function message(correlationId: unknown, properties: Record<string, unknown>, body: Record<string, unknown>): object {
  return { correlation_id: correlationId, application_properties: properties, body };
}
