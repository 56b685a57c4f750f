import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Firing } from '../invoker.ts';
import type { Listener } from '../listener.ts';
import type { InvocationOutcome } from '../worker-protocol.ts';
import { respond } from './response.ts';
import type { Route } from './route.ts';

/** One function with an HTTP trigger. Keys (`authLevel`) are not asked for, as with Core Tools. */
export interface HttpFunction {
  readonly route: Route;
  /** In upper case. */
  readonly methods: readonly string[];
  readonly invoke: (firing: Firing) => Promise<InvocationOutcome>;
}

/**
 * Serves the HTTP triggers of an app on 127.0.0.1; the first function whose route and method fit gets the request.
 *
 * @throws Error with one line when the port cannot be opened.
 */
export async function startHttpListener(
  functions: readonly HttpFunction[],
  port: number,
): Promise<Listener & { readonly port: number }> {
  const running = new Set<Promise<void>>();
  const server = createServer((request, response) => {
    const answered = answer(functions, request, response)
      .catch((error: Error) => void response.writeHead(500).end(error.message))
      .finally(() => running.delete(answered));
    running.add(answered);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new Error(`The host cannot serve HTTP on 127.0.0.1:${port} (${error.code}). What to do: choose another port.`, {
          cause: error,
        }),
      ),
    );
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    stopReceiving: async () => {
      server.close();
      server.closeIdleConnections();
    },
    idle: async () => {
      await Promise.all(running);
      server.closeIdleConnections();
    },
  };
}

async function answer(
  functions: readonly HttpFunction[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', `http://${request.headers.host ?? '127.0.0.1'}`);
  const method = request.method ?? 'GET';
  for (const { route, methods, invoke } of functions) {
    const params = methods.includes(method) ? route.match(url.pathname) : undefined;
    if (!params) continue;
    const outcome = await invoke({
      data: {
        http: {
          method,
          url: url.href,
          headers: headersOf(request),
          params,
          query: Object.fromEntries(url.searchParams),
          body: { bytes: await bytesOf(request) },
        },
      },
      triggerMetadata: {},
      reason: 'This function was programmatically called via the host APIs.',
      cause: { traceParent: request.headers['traceparent'], traceState: request.headers['tracestate'] },
    });
    return respond(outcome, response);
  }
  response.writeHead(404).end();
}

function headersOf(request: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(request.headersDistinct).map(([name, values]) => [name, (values ?? []).join(', ')]),
  );
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
