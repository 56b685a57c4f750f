import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the handler of the app `scripted` does; times in ms. */
export type Step =
  | readonly ['charge']
  | readonly ['work' | 'block', number]
  /** Waits until the test opens this gate, whatever its signal says. */
  | readonly ['waitFor', string]
  /** Waits until its signal fires, and gives up. */
  | readonly ['waitForSignal']
  | readonly ['ignoreSignal']
  | readonly ['kill']
  | readonly ['growWithoutEnd']
  | readonly ['say']
  | readonly ['throwInTimer']
  | readonly ['failTransient' | 'failPermanent'];

/** One start of the handler, as it was told before it did anything. */
export interface Run {
  readonly eventId: string;
  readonly attempt: number;
  readonly deliveryCount: number;
  readonly lockToken: string;
  readonly pid: number;
}

/** What an event's runs do, one after the other; the last one repeats. */
export type Script = readonly (readonly Step[])[];

/** Tells the handlers of all processes what to do, and so knows of each run, of those that end without a word too. */
export interface Director {
  readonly url: string;
  readonly runs: readonly Run[];
  /** What an event's runs do; without a script they charge. */
  direct(eventId: string, script: Script): void;
  /** Lets all go on who wait at this gate, and all who come. */
  open(gate: string): void;
  stop(): Promise<void>;
}

const CHARGE: Script = [[['charge']]];

/** Starts a director on a free port of 127.0.0.1. */
export async function startDirector(): Promise<Director> {
  const runs: Run[] = [];
  const scripts = new Map<string, Script>();
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const gateOf = (name: string) => {
    const gate = gates.get(name) ?? Promise.withResolvers<void>();
    gates.set(name, gate);
    return gate;
  };
  const stepsOf = (run: Run): readonly Step[] => {
    const before = runs.filter(({ eventId }) => eventId === run.eventId).length;
    runs.push(run);
    const script = scripts.get(run.eventId) ?? CHARGE;
    return script[Math.min(before, script.length - 1)] ?? [];
  };
  const server = createServer(async (request, response) => {
    // A process that is killed while it asks is nobody's fault.
    const body = await jsonOf(request).catch(() => undefined);
    if (!body) return response.destroy();
    if (request.url === '/gates') await gateOf((body as { gate: string }).gate).promise;
    return response.end(JSON.stringify(request.url === '/runs' ? stepsOf(body as Run) : []));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    runs,
    direct: (eventId, script) => scripts.set(eventId, script),
    open: (gate) => gateOf(gate).resolve(),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function jsonOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}
