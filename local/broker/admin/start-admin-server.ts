import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Tier } from '../config/tier.ts';
import { onProtocol } from '../first-byte.ts';
import type { Clock } from '../model/clock.ts';
import type { Namespace } from '../model/namespace.ts';
import { AdminError } from './admin-error.ts';
import { errorDocument } from './atom.ts';
import { makeCertificate } from './certificate.ts';
import { Records } from './records.ts';
import type { AdminContext } from './resource.ts';
import { respond } from './respond.ts';

const HOST = '127.0.0.1';
const MOST_BYTES = 1024 * 1024;

export type AdminServerOptions = {
  readonly namespace: Namespace;
  /** 0, the default, takes any free port. */
  readonly port?: number;
  /** Whose limits entities are held to. Default: the service's. */
  readonly tier?: Tier;
  /** Default: the system's clock. */
  readonly clock?: Clock;
  /** Where to write the certificate that clients by HTTPS must trust, in PEM. */
  readonly certificateFile?: string | undefined;
};

export type AdminServer = {
  readonly port: number;
  /** Serves a client that has connected elsewhere. */
  serve(socket: Socket): void;
  /** Frees the port and cuts its clients. */
  stop(): Promise<void>;
};

/**
 * Serves the management API of the official emulator, Atom over plain HTTP, on the loopback interface. Entities made there
 * can be used at once. `AutoDeleteOnIdle`, partitions, express entities and authorization rules are kept and shown, and
 * change nothing; nobody has to sign requests. The same port speaks HTTPS, for clients that know nothing else, with a
 * certificate that is made when it is first needed.
 *
 * @throws Error with one line that says what is wrong, where, and what to do, when the port is taken
 * @throws the error of the file system when the certificate cannot be written
 */
export async function startAdminServer(options: AdminServerOptions): Promise<AdminServer> {
  const { namespace, port = 0, tier = 'azure', clock = Date, certificateFile } = options;
  const context: AdminContext = { namespace, tier, records: new Records(() => clock.now()) };
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    answer(request, response, context).catch((fault) => response.destroy(fault));
  };
  const certificate = onDemand(makeCertificate);
  if (certificateFile !== undefined) await writeFile(certificateFile, (await certificate()).cert);
  const http = createHttpServer(onRequest);
  const https = onDemand(async () => {
    const { cert, private: key } = await certificate();
    return createHttpsServer({ cert, key }, onRequest);
  });
  const sockets = new Set<Socket>();
  const serve = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    onProtocol(socket, async (protocol) => {
      const server = protocol === 'tls' ? await https() : http;
      server.emit('connection', socket);
    });
  };
  const server = createServer(serve);
  server.listen(port, HOST);
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error;
    throw new Error(
      `The management API cannot listen on ${HOST}:${port}: the port is taken. What to do: stop what listens there, or choose another port.`,
    );
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    serve,
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Makes something when it is first asked for, and once. */
function onDemand<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, context: AdminContext): Promise<void> {
  const { status, contentType, body } = await read(request)
    .then((text) => {
      const { method = 'GET', url = '/', headers } = request;
      const scheme = request.socket instanceof TLSSocket ? 'https' : 'http';
      const whole = new URL(url, `${scheme}://${headers.host ?? 'localhost'}`);
      return respond({ method, url: whole, body: text, isUpdate: headers['if-match'] !== undefined }, context);
    })
    .catch((error: Error) => {
      const refusal = error instanceof AdminError ? error.status : 500;
      if (refusal === 500) process.emitWarning(error);
      const body = errorDocument(refusal, error.message);
      return { status: refusal, contentType: 'application/xml; charset=utf-8', body };
    });
  response.writeHead(status, { 'content-type': contentType }).end(body);
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MOST_BYTES) throw new AdminError(413, `A request may have ${MOST_BYTES} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
