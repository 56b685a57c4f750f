import type { AddressInfo } from 'node:net';
import rhea, { type EventContext } from 'rhea';
import { aDeliveredMessage } from './a-message.ts';
import { accept } from './outcome.ts';
import { serve } from './serve.ts';

// A process of its own: the least that can be on the other side of a client. It accepts whatever comes, and sends the
// same message for as long as it is asked to. No queue, no lock, no order; but what it sends has the marks and the tag that
// a client of Service Bus cannot do without, so that the client has the same to read from either server.
const bytes = rhea.message.encode(aDeliveredMessage() as never);
const container = rhea.create_container({ id: 'bare' });
let sent = 0;
container.on('sendable', ({ sender }: EventContext) => {
  while (sender?.sendable()) sender.send(bytes, lockToken(), 0);
});
container.on('accepted', ({ delivery }: EventContext) => {
  accept(delivery, true);
  // rhea frees its record of a delivery when both sides have settled; this client never says that it has.
  Object.assign(delivery ?? {}, { remote_settled: true });
});
for (const event of ['connection_error', 'disconnected', 'error']) container.on(event, () => {});
const server = container.listen({
  port: 0,
  host: '127.0.0.1',
  tcp_no_delay: true,
  receiver_options: { credit_window: 1000 },
} as never);
server.once('listening', () => serve((server.address() as AddressInfo).port));

/** A delivery tag of 16 bytes, another one each time. */
function lockToken(): Buffer {
  const tag = Buffer.alloc(16);
  tag.writeUInt32BE(++sent, 12);
  return tag;
}
