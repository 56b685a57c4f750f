// How the broker reads transfers, where rhea makes an object of each field, half a dozen functions of each message, and four
// events of its arrival. Beside rhea-internals.ts and rhea-writes.ts the only file that touches what rhea keeps to itself.
import type { Connection, Receiver } from 'rhea';
import { readTransfer } from './transfer-reader.ts';

type Transport = { readonly header_received: unknown; read(bytes: Buffer): number };
type PrivateConnection = Connection & { amqp_transport: Transport; on_transfer(frame: Frame): void };
/** What rhea keeps of the messages that come in on a session. */
export type IncomingLedger = {
  readonly deliveries: { push(delivery: unknown): void };
  next_delivery_id: number | undefined;
  next_transfer_id: number;
  update(delivery: unknown, settled: boolean, state: unknown): void;
};
/** A frame as rhea or {@link readTransfer} has read it. */
type Frame = { readonly performative: Readonly<Record<string, unknown>>; readonly payload?: Buffer };
type PrivateReceiver = Receiver & { credit: number; delivery_count: number; readonly _incomplete?: unknown };

/** Reads plain transfers past rhea, and leaves every other frame to it. */
export function readTransfers(connection: Connection): void {
  const target = connection as PrivateConnection;
  const { amqp_transport: transport } = target;
  const read = transport.read.bind(transport);
  transport.read = (bytes) => {
    if (!transport.header_received) return read(bytes);
    let start = 0;
    while (start < bytes.length - 4) {
      const size = bytes.readUInt32BE(start);
      const end = start + size;
      if (end > bytes.length) break;
      const transfer = readTransfer(bytes, start, size);
      if (transfer !== undefined) target.on_transfer(transfer);
      // rhea takes a frame that is too small for one as an error, but sees it only with what comes behind it.
      else if (read(size < 8 ? bytes.subarray(start) : bytes.subarray(start, end)) === 0) break;
      start = end;
    }
    return start;
  };
}

/** A message that came in one frame. */
class WholeDelivery {
  readonly id: number;
  readonly link: Receiver;
  readonly remote_settled: boolean;
  settled = false;
  state: unknown = undefined;
  readonly #incoming: IncomingLedger;

  constructor(incoming: IncomingLedger, link: Receiver, id: number, isSettledByClient: boolean) {
    this.#incoming = incoming;
    this.link = link;
    this.id = id;
    this.remote_settled = isSettledByClient;
  }

  update(settled: boolean, state: unknown): void {
    this.#incoming.update(this, settled, state);
  }
}

/**
 * Takes in a transfer that is a whole message, as rhea would, but without an event.
 *
 * @returns `undefined` for any other, which rhea must take
 */
export function takeWhole(incoming: IncomingLedger, link: Receiver, frame: Frame): WholeDelivery | undefined {
  const { delivery_id: id, more, aborted, settled } = frame.performative;
  const receiver = link as PrivateReceiver;
  if (more === true || aborted === true || frame.payload === undefined) return undefined;
  if (receiver._incomplete !== undefined || receiver.credit <= 0) return undefined;
  if (typeof id !== 'number' || id !== (incoming.next_delivery_id ?? id)) return undefined;
  const delivery = new WholeDelivery(incoming, link, id, settled === true);
  incoming.deliveries.push(delivery);
  incoming.next_transfer_id++;
  incoming.next_delivery_id = id + 1;
  receiver.credit--;
  receiver.delivery_count++;
  return delivery;
}
