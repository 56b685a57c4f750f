import { createServer, type IncomingMessage, type Server } from 'node:http';
import { z } from 'zod';
import { type Faults, REFUSALS, REPLIES } from './faults.ts';

const MOST_BYTES_OF_A_REQUEST = 10_000;
const count = z.int().min(1).default(1);
const requests = {
  'POST /replies/drop': z.strictObject({ to: z.enum(REPLIES), count }),
  'POST /replies/delay': z.strictObject({ inMs: z.int().min(0) }),
  'POST /sends/refuse': z.strictObject({ as: z.enum(REFUSALS), count: count.or(z.literal('all')) }),
} as const;

/** What the API controls beside the faults themselves. */
export type FaultControls = {
  readonly faults: Faults;
  /** Cuts every connection. */
  dropConnections(): void;
  /** Stops listening and cuts every connection; what is stored stays. */
  suspend(): Promise<void>;
  /** Listens again, on the same port. */
  resume(): Promise<void>;
};

type Answer = { readonly status: number; readonly body?: unknown };

/**
 * Faults by HTTP, for tests in any language. Bodies are JSON; an answer is 204, 200 with the present state, 400 with what
 * was wrong, or 404.
 *
 * | request | body | effect |
 * | --- | --- | --- |
 * | `GET /faults` | | what is set |
 * | `DELETE /faults` | | sets nothing any more |
 * | `POST /replies/drop` | `{"to": "send" or "schedule" or "settlement" or "request", "count": 1}` | carries out what comes next and does not answer it |
 * | `POST /replies/delay` | `{"inMs": 500}` | holds every reply back; 0 ends it |
 * | `POST /sends/refuse` | `{"as": "Unauthorized" or "ServerBusy", "count": 1 or "all"}` | refuses the next sends; all as Unauthorized: links to send on as well |
 * | `POST /connections/drop` | | cuts every connection |
 * | `POST /stop`, `POST /start` | | stops listening and listens again; what is stored stays |
 */
export function createFaultApi(controls: FaultControls): Server {
  return createServer(async (request, response) => {
    const { status, body } = await answerTo(request, controls).catch((error: Error): Answer => {
      return { status: 400, body: { error: error.message } };
    });
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function answerTo(request: IncomingMessage, controls: FaultControls): Promise<Answer> {
  const { faults } = controls;
  const body = await bodyOf(request);
  const route = `${request.method} ${request.url}`;
  switch (route) {
    case 'GET /faults':
      return { status: 200, body: faults.state };
    case 'DELETE /faults':
      faults.clear();
      return { status: 204 };
    case 'POST /replies/drop': {
      const { to, count: replies } = checked(requests[route], body);
      faults.dropReplies(to, replies);
      return { status: 204 };
    }
    case 'POST /replies/delay':
      faults.delayReplies(checked(requests[route], body).inMs);
      return { status: 204 };
    case 'POST /sends/refuse': {
      const { as, count: sends } = checked(requests[route], body);
      faults.refuseSends(as, sends === 'all' ? Number.POSITIVE_INFINITY : sends);
      return { status: 204 };
    }
    case 'POST /connections/drop':
      controls.dropConnections();
      return { status: 204 };
    case 'POST /stop':
      await controls.suspend();
      return { status: 204 };
    case 'POST /start':
      await controls.resume();
      return { status: 204 };
    default:
      return { status: 404, body: { error: `There is no ${route}.` } };
  }
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MOST_BYTES_OF_A_REQUEST) throw new Error(`The body is larger than ${MOST_BYTES_OF_A_REQUEST} bytes.`);
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString('utf8');
  try {
    return text === '' ? {} : JSON.parse(text);
  } catch {
    throw new Error(`The body is not JSON: ${text}`);
  }
}

function checked<T extends z.ZodType>(schema: T, body: unknown): z.output<T> {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  throw new Error(result.error.issues.map(({ path, message }) => `${path.join('.') || 'body'}: ${message}`).join('; '));
}
