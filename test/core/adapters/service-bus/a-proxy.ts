import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** The AMQP performative that opens a link. */
const ATTACH = Buffer.from('005312', 'hex');

export interface Proxy {
  readonly port: number;
  /** Connections so far. */
  connections(): number;
  /** Links that clients have opened so far. */
  attaches(): number;
  /** Cuts every connection; resolves when all are gone. */
  drop(): Promise<void>;
}

/** Stands between a client and a port on this machine until the test ends, and sees what goes by. */
export async function aProxyTo(port: number): Promise<Proxy> {
  const sockets = new Set<Socket>();
  const sent: Buffer[] = [];
  let connections = 0;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    return socket;
  };
  const server = createServer((client) => {
    connections += 1;
    const broker = keep(connect(port, '127.0.0.1'));
    keep(client).on('data', (bytes) => sent.push(bytes));
    client.pipe(broker).pipe(client);
    client.on('close', () => broker.destroy());
    broker.on('close', () => client.destroy());
  });
  const drop = async () => {
    await Promise.all([...sockets].map((socket) => once(socket.destroy(), 'close')));
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    await drop();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    attaches: () => Buffer.concat(sent).toString('hex').split(ATTACH.toString('hex')).length - 1,
    drop,
  };
}
