import { createServer, type Server, type Socket } from 'node:net';
import rhea, { type Connection, type Container, type EventContext } from 'rhea';
import { onProtocol } from '../first-byte.ts';
import { ClientLinks } from './client-links.ts';
import { CONDITION } from './conditions.ts';
import { detachDisabled, detachRemoved } from './detach.ts';
import type { LinkServices } from './link-services.ts';
import { acceptSocket, allowAnyoneBy, type IncomingDelivery, prepareSession, stopTimers } from './rhea-internals.ts';

const CONNECTION_OPTIONS = {
  max_frame_size: 65_536,
  tcp_no_delay: true,
  sender_options: { autosettle: false, treat_modified_as_released: false },
  receiver_options: { autoaccept: false, autosettle: false, credit_window: 0 },
};

/** Speaks AMQP 1.0 over plain TCP on behalf of a namespace. */
export class AmqpServer {
  readonly #services: LinkServices;
  readonly #handshakeTimeoutInMs: number;
  readonly #container: Container;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #clients = new Map<Connection, ClientLinks>();
  /** Serves clients that speak HTTP; where there is none, they are served as if they spoke AMQP, and are cut off. */
  serveHttp: ((socket: Socket) => void) | undefined;

  /** @param handshakeTimeoutInMs how long a client may take from its connection to its AMQP open */
  constructor(services: LinkServices, handshakeTimeoutInMs = 30_000) {
    this.#services = services;
    this.#handshakeTimeoutInMs = handshakeTimeoutInMs;
    this.#container = rhea.create_container({ id: 'local-service-bus' });
    this.#container.sasl_server_mechanisms.enable_anonymous();
    this.#container.sasl_server_mechanisms.enable_plain(() => true);
    allowAnyoneBy(this.#container, 'MSSBCBS');
    this.#listenToClients();
    services.namespace.onRemoved((path) => {
      for (const connection of this.#clients.keys()) detachRemoved(connection, path);
    });
    services.namespace.onUpdated((entity) => {
      for (const connection of this.#clients.keys()) detachDisabled(connection, entity);
    });
    this.#server = createServer((socket) => this.#accept(socket));
  }

  /**
   * @param port 0 for any free one
   * @returns the port that is listened on
   * @throws the error of the socket, `EADDRINUSE` when the port is taken
   */
  listen(port: number, host: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject);
        const address = this.#server.address();
        resolve(typeof address === 'object' && address !== null ? address.port : port);
      });
    });
  }

  /** Cuts every connection and stops listening; clients see a lost connection. It may listen again. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.dropConnections();
    await closed;
  }

  /** Cuts every connection; clients see a lost connection, and may come back at once. */
  dropConnections(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    const handshake = setTimeout(() => socket.destroy(), this.#handshakeTimeoutInMs);
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(handshake);
      this.#sockets.delete(socket);
    });
    onProtocol(socket, (protocol) => {
      if (protocol === 'other' || this.serveHttp === undefined) {
        this.#serveAmqp(socket).once('connection_open', () => clearTimeout(handshake));
      } else {
        clearTimeout(handshake);
        this.serveHttp(socket);
      }
    });
  }

  #serveAmqp(socket: Socket): Connection {
    const connection = acceptSocket(this.#container, socket, CONNECTION_OPTIONS);
    this.#clients.set(connection, new ClientLinks(this.#services));
    socket.on('close', () => {
      this.#clients.get(connection)?.closeAll();
      this.#clients.delete(connection);
      stopTimers(connection);
    });
    return connection;
  }

  /** A fault of ours ends the connection that met it, visibly, and no other. */
  #guard(connection: Connection, work: () => void): void {
    try {
      work();
    } catch (fault) {
      const error = fault instanceof Error ? fault : new Error(String(fault));
      process.emitWarning(error);
      connection.close({ condition: CONDITION.internalError, description: error.message });
    }
  }

  #listenToClients(): void {
    const on = (event: string, listener: (links: ClientLinks, context: EventContext) => void) => {
      this.#container.on(event, (context: EventContext) => {
        const links = this.#clients.get(context.connection);
        if (links !== undefined) this.#guard(context.connection, () => listener(links, context));
      });
    };
    on('session_open', (links, { connection, session }) => {
      if (session === undefined) return;
      prepareSession(session, {
        onMessage: (...message) => this.#guard(connection, () => links.onMessage(...message)),
        onDisposition: (...disposition) => this.#guard(connection, () => links.onDisposition(...disposition)),
        onFlow: () => links.onFlow(),
      });
    });
    on('sender_open', (links, { sender }) => sender && links.attachConsumer(sender));
    on('receiver_open', (links, { receiver }) => receiver && links.attachProducer(receiver));
    on('sender_flow', (links, { sender }) => sender && links.onCredit(sender));
    on('message', (links, context) => {
      const { receiver, message, delivery } = context;
      if (receiver === undefined || !Buffer.isBuffer(message)) return;
      const { format } = context as unknown as { format: number };
      links.onMessage(receiver, message, format, delivery as unknown as IncomingDelivery);
    });
    on('sender_close', (links, { sender }) => sender && links.onLinkClosed(sender));
    on('receiver_close', (links, { receiver }) => receiver && links.onLinkClosed(receiver));
    on('session_close', (links, { session }) => links.closeAll(session));
    // rhea takes an event without a listener for an unhandled error, and throws. What these say, the socket's end says too.
    for (const event of ['sender_error', 'receiver_error', 'session_error', 'connection_error', 'connection_close']) {
      this.#container.on(event, () => {});
    }
    for (const event of ['error', 'disconnected']) this.#container.on(event, () => {});
  }
}
