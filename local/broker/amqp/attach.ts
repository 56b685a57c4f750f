import type { Receiver, Sender } from 'rhea';
import type { AmqpError } from './conditions.ts';
import { flush, setAttach } from './rhea-internals.ts';

/**
 * Refuses a link that a client wants to attach. The answer carries no terminus, as AMQP 1.0 says (2.6.3): a client that
 * finds one takes the link for a working one, and then misses what a working one has.
 */
export function refuseAttach(link: Sender | Receiver, error: AmqpError): void {
  setAttach(link, link.is_sender() ? { source: undefined } : { target: undefined });
  link.close(error);
}

/**
 * Sends the answer to an attach now, after those to the connection and the session that it may have come with. A client
 * may send credit beside its attach, and rhea sends what that credit calls for before it answers the attach; the client
 * then ends the session, for it does not know the link yet.
 */
export function answerAttach(sender: Sender): void {
  flush(sender);
}
