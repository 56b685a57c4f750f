import rhea from 'rhea';

/** What every benchmark sends: a body of 200 bytes, with an id, as a producer would. */
export const BODY_IN_BYTES = 200;

const { types } = rhea;
const body = Buffer.alloc(BODY_IN_BYTES, 'x');

/** The message, due at once or at `dueUtc`, in epoch milliseconds. */
export function aMessage(dueUtc?: number): object {
  const message = { message_id: 'm-1', body };
  if (dueUtc === undefined) return message;
  return { ...message, message_annotations: { 'x-opt-scheduled-enqueue-time': new Date(dueUtc) } };
}

/** The message as a Service Bus delivers it under a lock: with the header and the annotations that its clients read. */
export function aDeliveredMessage(): object {
  return {
    ...aMessage(),
    ttl: 3_600_000,
    delivery_count: 0,
    message_annotations: {
      'x-opt-sequence-number': types.wrap_long(1),
      'x-opt-enqueue-sequence-number': types.wrap_long(1),
      'x-opt-enqueued-time': new Date(),
      'x-opt-message-state': types.wrap_int(0),
      'x-opt-locked-until': new Date(),
    },
  };
}
