import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What happens to one request on its way. */
export type Fault =
  | { readonly kind: 'pass' }
  /** Carried out, but the connection breaks before the reply. */
  | { readonly kind: 'dropReply' }
  /** Not carried out; the proxy answers. */
  | { readonly kind: 'answer'; readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  /** Carried out, but the reply never comes. */
  | { readonly kind: 'withholdReply' }
  /** Neither answered nor carried out before `release` is called. */
  | { readonly kind: 'withholdRequest' };

export interface FaultProxy {
  readonly tableEndpoint: string;
  /** Methods of the requests since the last call, in their order. */
  requests(): string[];
  /** What happens to the next requests, in their order; those after pass. */
  next(...faults: readonly (Exclude<Fault['kind'], 'answer'> | Fault)[]): void;
  /** Resolves once a request is withheld; gives what lets it go on, which resolves once it has been carried out. */
  withheld(): Promise<() => Promise<void>>;
  /** How many requests that got no answer their client has broken off. */
  brokenOff(): number;
  stop(): Promise<void>;
}

/** A proxy in front of a table service, on a free port. */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
  const upstream = new URL(target);
  let faults: Fault[] = [];
  let requests: string[] = [];
  const held: (() => Promise<void>)[] = [];
  let brokenOff = 0;
  let onHeld: (() => void) | undefined;
  const hold = (release: () => Promise<void>) => {
    held.push(release);
    onHeld?.();
  };

  async function carryOut(incoming: IncomingMessage, body: Buffer) {
    const { method, headers, url: path } = incoming;
    const forwarded = request({ hostname: upstream.hostname, port: upstream.port, method, path, headers });
    forwarded.end(body);
    const [reply] = (await once(forwarded, 'response')) as [IncomingMessage];
    return { reply, body: Buffer.concat(await reply.toArray()) };
  }

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    requests.push(incoming.method ?? '');
    outgoing.once('close', () => {
      if (!outgoing.writableEnded) brokenOff++;
    });
    const fault = faults.shift() ?? { kind: 'pass' };
    const body = Buffer.concat(await incoming.toArray());
    switch (fault.kind) {
      case 'pass': {
        const { reply, body: replied } = await carryOut(incoming, body);
        outgoing.writeHead(reply.statusCode ?? 500, reply.headers).end(replied);
        return;
      }
      case 'dropReply':
        await carryOut(incoming, body);
        incoming.socket.destroy();
        return;
      case 'answer':
        outgoing.writeHead(fault.status, { 'content-type': 'application/json', ...fault.headers }).end('{}');
        return;
      case 'withholdReply':
        await carryOut(incoming, body);
        hold(async () => undefined);
        return;
      case 'withholdRequest':
        hold(async () => void (await carryOut(incoming, body)));
    }
  }

  const server = createServer((incoming, outgoing) => {
    serve(incoming, outgoing).catch(() => incoming.socket.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    tableEndpoint: `http://127.0.0.1:${port}${upstream.pathname}`,
    requests() {
      const seen = requests;
      requests = [];
      return seen;
    },
    next(...next) {
      faults = next.map((fault) => (typeof fault === 'string' ? { kind: fault } : fault));
    },
    async withheld() {
      if (held.length === 0) await new Promise<void>((resolve) => (onHeld = resolve));
      return held.shift() as () => Promise<void>;
    },
    brokenOff: () => brokenOff,
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
