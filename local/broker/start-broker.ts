import { randomBytes } from 'node:crypto';
import { AmqpServer } from './amqp/amqp-server.ts';
import { Dispatchers } from './amqp/dispatchers.ts';
import type { Entities } from './entities.ts';
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
};

/** A running broker. */
export type Broker = {
  readonly port: number;
  /** For `@azure/service-bus`, which must speak plain TCP to it; the key is a placeholder, for the broker guards nothing. */
  readonly connectionString: string;
  /** The entities themselves, for tests. */
  readonly namespace: Namespace;
  /** Cuts every connection and frees the port; leaves no timer. What was stored is lost. */
  stop(): Promise<void>;
};

/**
 * Starts a Service Bus of one's own on the loopback interface.
 *
 * @throws Error with one line that says what is wrong, where, and what to do, when the port is taken
 */
export async function startBroker({ entities, port = 0, clock = Date }: BrokerOptions): Promise<Broker> {
  const newLockToken = tokens();
  const namespace = new Namespace({ clock, ...entities, newLockToken });
  const newMessageId = () => newLockToken().replaceAll('-', '');
  const server = new AmqpServer({ namespace, dispatchers: new Dispatchers(), newMessageId });
  const boundPort = await server.listen(port, HOST).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error;
    throw new Error(
      `The broker cannot listen on ${HOST}:${port}: the port is taken. What to do: stop what listens there, or choose another port.`,
    );
  });
  const stopWakeUps = startWakeUps(namespace);
  return {
    port: boundPort,
    connectionString: `Endpoint=sb://localhost:${boundPort};SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;`,
    namespace,
    stop: async () => {
      stopWakeUps();
      await server.close();
    },
  };
}

/** UUIDs of one random start and a count: unique across restarts, and far cheaper than a random one for each message. */
function tokens(): () => string {
  const start = randomBytes(10).toString('hex');
  const head = `${start.slice(0, 8)}-${start.slice(8, 12)}-4${start.slice(12, 15)}-8${start.slice(15, 18)}-`;
  let count = 0;
  return () => head + (++count).toString(16).padStart(12, '0');
}
