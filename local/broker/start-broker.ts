import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { AmqpServer } from './amqp/amqp-server.ts';
import { Dispatchers } from './amqp/dispatchers.ts';
import type { Entities } from './entities.ts';
import { createFaultApi } from './faults/fault-api.ts';
import { Faults } from './faults/faults.ts';
import type { Clock } from './model/clock.ts';
import { Namespace } from './model/namespace.ts';
import { startWakeUps } from './wake-ups.ts';

const HOST = '127.0.0.1';

/** What a broker is started with. */
export type BrokerOptions = {
  readonly entities: Entities;
  /** 0, the default, takes any free port. */
  readonly port?: number;
  /** Default: the system's clock. Whoever passes another one calls `namespace.advance()` after moving it. */
  readonly clock?: Clock;
  /** Serves the fault controls on this port, 0 for any free one; absent, the default, serves none. */
  readonly faultPort?: number;
};

/** A running broker. */
export type Broker = {
  readonly port: number;
  /** For `@azure/service-bus`, which must speak plain TCP to it; the key is a placeholder, for the broker guards nothing. */
  readonly connectionString: string;
  /** The entities themselves, for tests. */
  readonly namespace: Namespace;
  /** Faults to ask for, from within this process. */
  readonly faults: Faults;
  /** Where the fault controls are served, if they are. */
  readonly faultPort: number | undefined;
  /** Hands clients over that speak HTTP or HTTPS, on the same port; without this they are cut off. */
  serveHttpBy(serve: (socket: Socket) => void): void;
  /** Cuts every connection; clients may come back at once. */
  dropConnections(): void;
  /** Stops listening and cuts every connection; what is stored stays, and time goes on for it. */
  suspend(): Promise<void>;
  /** Listens again, on the same port. */
  resume(): Promise<void>;
  /** Cuts every connection and frees the port; leaves no timer. What was stored is lost. */
  stop(): Promise<void>;
};

/**
 * Starts a Service Bus of one's own on the loopback interface.
 *
 * @throws Error with one line that says what is wrong, where, and what to do, when the port is taken
 */
export async function startBroker({ entities, port = 0, clock = Date, faultPort }: BrokerOptions): Promise<Broker> {
  const newLockToken = tokens();
  const namespace = new Namespace({ clock, ...entities, newLockToken });
  const newMessageId = () => newLockToken().replaceAll('-', '');
  const faults = new Faults();
  const server = new AmqpServer({ namespace, dispatchers: new Dispatchers(), faults, newMessageId });
  const boundPort = await server.listen(port, HOST).catch((error) => Promise.reject(listenError(error, port)));
  const controls = {
    faults,
    dropConnections: () => server.dropConnections(),
    suspend: () => server.close(),
    resume: async () => {
      await server.listen(boundPort, HOST);
    },
  };
  const faultApi = faultPort === undefined ? undefined : createFaultApi(controls);
  const boundFaultPort = await listenOn(faultApi, faultPort).catch(async (error) => {
    await server.close();
    throw listenError(error, faultPort);
  });
  const stopWakeUps = startWakeUps(namespace);
  return {
    ...controls,
    port: boundPort,
    connectionString: `Endpoint=sb://localhost:${boundPort};SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;`,
    namespace,
    faultPort: boundFaultPort,
    serveHttpBy: (serve) => {
      server.serveHttp = serve;
    },
    stop: async () => {
      stopWakeUps();
      faults.stop();
      faultApi?.close();
      faultApi?.closeAllConnections();
      await server.close();
    },
  };
}

async function listenOn(server: Server | undefined, port: number | undefined): Promise<number | undefined> {
  if (server === undefined) return undefined;
  server.listen(port, HOST);
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' ? address?.port : undefined;
}

function listenError(error: NodeJS.ErrnoException, port: number | undefined): Error {
  if (error.code !== 'EADDRINUSE') return error;
  return new Error(
    `The broker cannot listen on ${HOST}:${port}: the port is taken. What to do: stop what listens there, or choose another port.`,
  );
}

/** UUIDs of one random start and a count: unique across restarts, and far cheaper than a random one for each message. */
function tokens(): () => string {
  const start = randomBytes(10).toString('hex');
  const head = `${start.slice(0, 8)}-${start.slice(8, 12)}-4${start.slice(12, 15)}-8${start.slice(15, 18)}-`;
  let count = 0;
  return () => head + (++count).toString(16).padStart(12, '0');
}
