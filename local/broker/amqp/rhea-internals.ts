// With rhea-reads.ts and rhea-writes.ts, which are about speed, the one place that touches what rhea keeps to itself. rhea is
// pinned exactly because of these files. Each part says which behaviour of rhea it works around.
import type { Socket } from 'node:net';
import type { Connection, Container, Receiver, Sender, Session } from 'rhea';
import { DeliveryTable, type SentDelivery } from './delivery-table.ts';
import { type IncomingLedger, readTransfers, takeWhole } from './rhea-reads.ts';
import { writeAtEndOfFlush, writeTransfers } from './rhea-writes.ts';
import type { WireValue } from './wire-values.ts';

/** A message that a client has transferred; `update` settles it. */
export type IncomingDelivery = {
  /** Its bytes were not kept, because they were more than the link allows. */
  isTooLarge?: boolean;
  update(settled: boolean, state: unknown): void;
};

type Outgoing = {
  deliveries: DeliveryTable;
  next_delivery_id: number;
  next_pending_delivery: number;
};
type Frame = { performative: Record<string, unknown>; payload?: Buffer };
type PrivateReceiver = Receiver & {
  _incomplete?: (IncomingDelivery & { settled: boolean; frames: Buffer[] }) | undefined;
};
type PrivateSession = Session & {
  outgoing: Outgoing;
  incoming: IncomingLedger;
  on_transfer(frame: Frame): void;
  on_disposition(frame: Frame): void;
  on_flow(frame: Frame): void;
  _get_link(frame: Frame): PrivateReceiver;
};
type PrivateSender = Sender & {
  credit: number;
  delivery_count: number;
  _draining: boolean;
  _drained: boolean;
  _get_drain(): boolean;
  state: { local_open: boolean; open_requests: number };
  local: { attach: Record<string, unknown> };
};
type PrivateConnection = Connection & {
  accept(socket: Socket): void;
  transport: { peek_size(bytes: Buffer): number | undefined };
  _register(): void;
  _process(): void;
  socket: Socket;
  heartbeat_out?: NodeJS.Timeout;
  heartbeat_in?: NodeJS.Timeout;
  abort_idle?: NodeJS.Timeout;
};

/**
 * The message format under which a plain message reaches the listeners. rhea decodes a message of format 0, and what it
 * decodes loses the types of its values; any other format is handed over as bytes.
 */
export const PLAIN_AS_BYTES = 1;

/** The message format of a batch: each data section is one whole encoded message. */
export const BATCH_FORMAT = 0x80013700;

/** What a client says about deliveries. `state` keeps its types; it is `undefined` when the client only settles. */
export type DispositionListener = (
  deliveries: readonly SentDelivery[],
  state: WireValue | undefined,
  isSettled: boolean,
) => void;

/** What the server wants of a session. */
export type SessionOptions = {
  /** Called with each message that came in one frame; of others a `message` event tells. */
  onMessage(receiver: Receiver, bytes: Buffer, format: number, delivery: IncomingDelivery): void;
  readonly onDisposition: DispositionListener;
  /** Called after each flow frame. */
  onFlow(): void;
};

/**
 * Prepares a session that a client has opened: received messages stay bytes, aborted ones are forgotten, and dispositions
 * go to `onDisposition` with their types. Must run before the first frame of the session, in `session_open`.
 */
export function prepareSession(session: Session, options: SessionOptions): void {
  const { onMessage, onDisposition, onFlow } = options;
  const target = session as PrivateSession;
  const table = new DeliveryTable(target.outgoing);
  target.outgoing.deliveries = table;
  writeTransfers(session);

  const transfer = target.on_transfer.bind(target);
  target.on_transfer = (frame) => {
    const { performative } = frame;
    const receiver = target._get_link(frame);
    if (!receiver.is_open()) {
      skipTransfer(target, receiver, performative);
      return;
    }
    const whole = takeWhole(target.incoming, receiver, frame);
    if (whole !== undefined && frame.payload !== undefined) {
      onMessage(receiver, frame.payload, Number(performative['message_format'] || PLAIN_AS_BYTES), whole);
      return;
    }
    const { _incomplete: incomplete } = receiver;
    if (incomplete !== undefined && receivedSize(receiver) + (frame.payload?.length ?? 0) > mostBytesOn(receiver)) {
      incomplete.isTooLarge = true;
      incomplete.frames = [];
      frame.payload = Buffer.alloc(0);
    }
    if (performative['aborted'] === true && receiver._incomplete !== undefined) {
      receiver._incomplete.settled = true;
      receiver._incomplete = undefined;
      return;
    }
    if (receiver._incomplete === undefined && !performative['message_format']) {
      performative['message_format'] = PLAIN_AS_BYTES;
    }
    transfer(frame);
  };

  const disposition = target.on_disposition.bind(target);
  target.on_disposition = (frame) => {
    const { performative } = frame;
    if (performative['role'] !== true) return disposition(frame);
    const first = Number(performative['first']);
    const last = Number(performative['last'] ?? first);
    const state = performative['state'] as WireValue | undefined;
    onDisposition(table.sentBetween(first, last), state ?? undefined, performative['settled'] === true);
  };

  const flow = target.on_flow.bind(target);
  target.on_flow = (frame) => {
    flow(frame);
    onFlow();
  };
}

/** Counts a transfer without keeping it: rhea takes a gap in the numbers for an error of the whole connection. */
function skipTransfer(session: PrivateSession, receiver: PrivateReceiver, performative: Record<string, unknown>): void {
  session.incoming.next_transfer_id++;
  if (receiver._incomplete === undefined && typeof performative['delivery_id'] === 'number') {
    session.incoming.next_delivery_id = performative['delivery_id'] + 1;
  }
  if (receiver._incomplete === undefined) return;
  receiver._incomplete.settled = true;
  receiver._incomplete.frames = [];
}

/** How large a message may be that comes on a link, as our attach says. */
export function mostBytesOn(receiver: Receiver): number {
  const { local } = receiver as unknown as { local: { attach: { max_message_size?: number } } };
  return local.attach.max_message_size ?? Number.POSITIVE_INFINITY;
}

function receivedSize({ _incomplete }: PrivateReceiver): number {
  return (_incomplete?.frames ?? []).reduce((sum, { length }) => sum + length, 0);
}

/** Settles a delivery towards the client and forgets it. rhea forgets only when the client has settled too. */
export function answer(delivery: SentDelivery, outcome: unknown): void {
  delivery.update(true, outcome);
  delivery.remote_settled = true;
  (delivery.link.session as PrivateSession).outgoing.deliveries.byId.delete(delivery.id);
}

/** Sends encoded bytes; `isSettled` sends them as settled already. */
export function sendBytes(sender: Sender, bytes: Buffer, tag: Buffer | undefined, isSettled: boolean): SentDelivery {
  const delivery = sender.send(bytes, tag, 0) as unknown as SentDelivery;
  if (isSettled) delivery.settled = true;
  return delivery;
}

/** How many more messages the client wants. rhea takes those off that wait for the next flush only when it flushes. */
export function availableCredit(sender: Sender): number {
  return (sender as PrivateSender).credit - unsentCount(sender);
}

/** Messages of this link that wait for the next flush or for the client's window. */
export function unsentCount(sender: Sender): number {
  return (sender.session as PrivateSession).outgoing.deliveries.unsentOn(sender);
}

/** Prepares a link for {@link answerDrain}: stock rhea answers a drain only where credit is left. */
export function prepareDrain(sender: Sender): void {
  const target = sender as PrivateSender;
  target._get_drain = () => {
    if (!target._draining || !target._drained) return false;
    target.delivery_count += target.credit;
    target.credit = 0;
    target._draining = false;
    return true;
  };
}

/** Whether the client has asked for a drain that is not answered yet. */
export function isDraining(sender: Sender): boolean {
  return (sender as PrivateSender)._draining;
}

/** Uses up the client's credit and tells it so. Nothing may wait to be sent on the link: it would have no credit left. */
export function answerDrain(sender: Sender): void {
  sender.set_drained(true);
  (sender.connection as PrivateConnection)._register();
}

/** Keeps an attach unanswered that rhea is about to answer; `sender.open()` answers it later. */
export function holdAttach(sender: Sender): void {
  const { state } = sender as PrivateSender;
  state.local_open = false;
  state.open_requests = 0;
}

/** Writes out now what rhea would write at the end of this turn of the event loop. */
export function flush(link: Sender | Receiver): void {
  (link.connection as PrivateConnection)._process();
}

/** Fields of our attach. rhea echoes nothing of the client's by itself. */
export function setAttach(link: Sender | Receiver, fields: Record<string, unknown>): void {
  const { local } = link as unknown as { local: { attach: Record<string, unknown> } };
  for (const [name, value] of Object.entries(fields)) local.attach[name] = value;
}

/**
 * Serves a client that has connected. A client that breaks the protocol, or announces a larger frame than it may send, is
 * cut off: rhea would wait for all of the frame, and after an error it only half-closes the socket.
 */
export function acceptSocket(container: Container, socket: Socket, options: AcceptOptions): Connection {
  const connection = container.create_connection(options as never) as PrivateConnection;
  for (const event of ['protocol_error', 'error']) connection.on(event, () => socket.destroy());
  connection.accept(socket);
  writeAtEndOfFlush(connection);
  readTransfers(connection);
  const { transport } = connection;
  const peekSize = transport.peek_size.bind(transport);
  transport.peek_size = (bytes) => {
    const size = peekSize(bytes);
    if (size !== undefined && size > options.max_frame_size) throw new Error(`A frame of ${size} bytes is too large.`);
    return size;
  };
  return connection;
}

/** rhea's options for a connection; the frame size is in bytes. */
export type AcceptOptions = { readonly max_frame_size: number };

/** Drops the timers of a connection whose socket is closed; rhea forgets them when the socket was destroyed. */
export function stopTimers(connection: Connection): void {
  const { heartbeat_out, heartbeat_in, abort_idle } = connection as PrivateConnection;
  for (const timer of [heartbeat_out, heartbeat_in, abort_idle]) if (timer !== undefined) clearTimeout(timer);
}

/** Adds a SASL mechanism that lets everybody in; Azure's .NET client asks for `MSSBCBS`. */
export function allowAnyoneBy(container: Container, mechanism: string): void {
  container.sasl_server_mechanisms[mechanism] = () => {
    const exchange = { outcome: undefined as boolean | undefined, username: mechanism, start: () => {} };
    exchange.start = () => {
      exchange.outcome = true;
    };
    return exchange;
  };
}
