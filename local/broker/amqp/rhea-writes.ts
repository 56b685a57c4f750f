// How the broker writes, where rhea would spend most of its time: it describes each frame by a dozen objects, gives it a
// buffer of its own and the socket a write of its own. With rhea-internals.ts the only file that touches what rhea keeps
// to itself.
import type { Socket } from 'node:net';
import type { Connection, Sender, Session } from 'rhea';
import type { DeliveryTable, SentDelivery } from './delivery-table.ts';
import { mostBytesOf, type Transfer, writeTransfer } from './transfer-frame.ts';

/** Transfers go to the socket together, up to about so many bytes: the client reads them while the next are written. */
const CHUNK_IN_BYTES = 65_536;

type Frame = { readonly performative?: unknown };
type Transport = { pending: (Frame | Transfer)[]; header_sent: unknown; write(socket: Socket): void };
type PrivateConnection = Connection & { amqp_transport: Transport; _process(): void; output(): void };
type PrivateSender = Sender & {
  credit: number;
  delivery_count: number;
  has_credit(): boolean;
  local: { handle: number };
};
type OutgoingDelivery = SentDelivery & { readonly link: PrivateSender; readonly data: Buffer[]; readonly tag: Buffer };
type Outgoing = {
  readonly deliveries: DeliveryTable;
  readonly next_delivery_id: number;
  next_pending_delivery: number;
  next_transfer_id: number;
  window: number;
  transfer_window(): number;
  process(): void;
};
type PrivateSession = Session & { outgoing: Outgoing; local: { channel: number } };

/** Lets a connection write at the end of each flush, everything at once. Must run before the first frame is written. */
export function writeAtEndOfFlush(connection: Connection): void {
  const target = connection as PrivateConnection;
  const process = target._process.bind(target);
  const output = target.output.bind(target);
  let isFlushing = false;
  let isAsked = false;
  target.output = () => {
    if (isFlushing) isAsked = true;
    else output();
  };
  target._process = () => {
    isFlushing = true;
    try {
      process();
    } finally {
      isFlushing = false;
      if (isAsked) output();
      isAsked = false;
    }
  };
  writeTogether(target.amqp_transport);
}

/** Writes each run of transfers as a few large chunks and what stands between them as rhea does, in one call of the system. */
function writeTogether(transport: Transport): void {
  const write = transport.write.bind(transport);
  transport.write = (socket) => {
    const frames = transport.pending;
    transport.pending = [];
    socket.cork();
    try {
      if (!transport.header_sent) write(socket);
      let run: Transfer[] = [];
      for (const frame of frames) {
        if ('deliveryId' in frame) {
          run.push(frame);
          continue;
        }
        writeRun(run, socket);
        run = [];
        transport.pending = [frame];
        write(socket);
      }
      writeRun(run, socket);
    } finally {
      socket.uncork();
    }
  };
}

function writeRun(transfers: readonly Transfer[], socket: Socket): void {
  for (let next = 0; next < transfers.length; ) {
    let size = 0;
    let end = next;
    for (; end < transfers.length && size < CHUNK_IN_BYTES; end++) size += mostBytesOf(transfers[end] as Transfer);
    const chunk = Buffer.allocUnsafe(size);
    let length = 0;
    for (; next < end; next++) length = writeTransfer(chunk, length, transfers[next] as Transfer);
    socket.write(chunk.subarray(0, length));
  }
}

/** Sends the messages of a session that fit into one frame past rhea; what does not, or may not be sent now, is left to it. */
export function writeTransfers(session: Session): void {
  const { outgoing, local, connection } = session as PrivateSession;
  const { amqp_transport: transport } = connection as PrivateConnection;
  const process = outgoing.process.bind(outgoing);
  outgoing.process = () => {
    const first = outgoing.next_pending_delivery;
    for (let delivery = nextWhole(outgoing); delivery !== undefined; delivery = nextWhole(outgoing)) {
      const { link, id: deliveryId, tag, settled: isSettled, data } = delivery;
      const [payload] = data as [Buffer];
      const { handle } = link.local;
      transport.pending.push({ channel: local.channel, handle, deliveryId, tag, isSettled, payload });
      // From here on as rhea's own method does it.
      if (isSettled) delivery.remote_settled = true;
      outgoing.window--;
      outgoing.next_transfer_id++;
      outgoing.next_pending_delivery++;
      link.credit--;
      link.delivery_count++;
    }
    if (first !== outgoing.next_pending_delivery) (connection as PrivateConnection).output();
    process();
  };
}

/** The next message that may be sent now; `undefined` when there is none, or when it needs more than one frame. */
function nextWhole(outgoing: Outgoing): OutgoingDelivery | undefined {
  if (outgoing.next_pending_delivery >= outgoing.next_delivery_id || outgoing.transfer_window() <= 0) return undefined;
  const delivery = outgoing.deliveries.by_id(outgoing.next_pending_delivery) as OutgoingDelivery | undefined;
  return delivery?.data.length === 1 && delivery.link.has_credit() ? delivery : undefined;
}
