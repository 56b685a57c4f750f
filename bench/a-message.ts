/** What every benchmark sends: a body of 200 bytes, with an id, as a producer would. */
export const BODY_IN_BYTES = 200;

const body = Buffer.alloc(BODY_IN_BYTES, 'x');

/** The message, due at once or at `dueUtc`, in epoch milliseconds. */
export function aMessage(dueUtc?: number): object {
  const message = { message_id: 'm-1', body };
  if (dueUtc === undefined) return message;
  return { ...message, message_annotations: { 'x-opt-scheduled-enqueue-time': new Date(dueUtc) } };
}
