import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { DefaultAzureCredential } from '@azure/identity';
import { ServiceBusClient } from '@azure/service-bus';
import { runSmoke } from './smoke/run-smoke.ts';

const USAGE = `npm run smoke -- --namespace NAME --queue NAME [--body FILE] [--timeout SECONDS]

Sends one event that succeeds and one that must be dead-lettered, waits for both, removes them, says what it saw.
Needs the right to send to the queue and to receive from it. The first event is handled for real: --body is what it
says, an order of 0.01 EUR unless given. Instead of --namespace, the variable SERVICEBUS_CONNECTION_STRING.`;

interface Options {
  readonly help: boolean;
  readonly queue: string;
  /** By name and identity, or by connection string. */
  readonly connect: () => ServiceBusClient;
  readonly id: string;
  readonly body: Buffer;
  readonly timeoutInMs: number;
}

/** @throws Error that names everything that is wrong with the command line, a line each */
function readOptions(args: readonly string[], connectionString: string | undefined): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      namespace: { type: 'string' },
      queue: { type: 'string' },
      body: { type: 'string' },
      timeout: { type: 'string', default: '120' },
      help: { type: 'boolean', default: false },
    },
  });
  const { namespace, queue = '', help, timeout } = values;
  const problems: string[] = [];
  const seconds = Number(timeout);
  const id = `smoke-${randomUUID()}`;
  const body = bodyFrom(values.body, id);
  if (queue === '') problems.push('--queue: expected the name of a queue, got none');
  if (!namespace && !connectionString) {
    problems.push('--namespace: expected the name of a namespace, or SERVICEBUS_CONNECTION_STRING, got neither');
  }
  if (!(seconds > 0 && seconds <= 86_400)) {
    problems.push(`--timeout: expected seconds above 0, at most 86400, got ${JSON.stringify(timeout)}`);
  }
  if (typeof body === 'string') problems.push(body);
  if (problems.length > 0 && !help) throw new Error(problems.join('\n'));
  return {
    help,
    queue,
    connect: () =>
      namespace
        ? new ServiceBusClient(fullName(namespace), new DefaultAzureCredential())
        : new ServiceBusClient(connectionString ?? ''),
    id,
    body: Buffer.from(body),
    timeoutInMs: seconds * 1_000,
  };
}

/** What the good event says, or the line that tells why not. */
function bodyFrom(file: string | undefined, orderId: string): Buffer | string {
  if (file === undefined) return Buffer.from(JSON.stringify({ orderId, amount: 0.01, currency: 'EUR' }));
  try {
    return readFileSync(file);
  } catch (error) {
    return `--body: cannot read ${file} (${(error as NodeJS.ErrnoException).code})`;
  }
}

/** As the portal shows it, or in full. */
function fullName(namespace: string): string {
  return namespace.includes('.') ? namespace : `${namespace}.servicebus.windows.net`;
}

async function smoke({ connect, queue, id, body, timeoutInMs }: Options): Promise<number> {
  const client = connect();
  try {
    const problems = await runSmoke({ client, queue, id, body, timeoutInMs, say: (line) => console.log(line) });
    for (const problem of problems) console.error(problem);
    if (problems.length === 0) console.log('all is well');
    return problems.length === 0 ? 0 : 1;
  } finally {
    await client.close();
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

async function main(): Promise<number> {
  let options: Options;
  try {
    options = readOptions(process.argv.slice(2), process.env['SERVICEBUS_CONNECTION_STRING']);
  } catch (error) {
    console.error(`${messageOf(error)}\n\n${USAGE}`);
    return 2;
  }
  if (options.help) {
    console.log(USAGE);
    return 0;
  }
  return smoke(options).catch((error) => {
    console.error(messageOf(error));
    return 1;
  });
}

process.exitCode = await main();
