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

const { values } = parseArgs({
  options: {
    namespace: { type: 'string' },
    queue: { type: 'string' },
    body: { type: 'string' },
    timeout: { type: 'string', default: '120' },
    help: { type: 'boolean', default: false },
  },
});
const connectionString = process.env['SERVICEBUS_CONNECTION_STRING'];
const timeoutInMs = Number(values.timeout) * 1_000;

if (values.help) console.log(USAGE);
else if (!values.queue || !(values.namespace || connectionString) || !(timeoutInMs > 0)) {
  console.error(USAGE);
  process.exitCode = 2;
} else process.exitCode = await smoke(values.queue);

async function smoke(queue: string): Promise<number> {
  const id = `smoke-${randomUUID()}`;
  const order = { orderId: id, amount: 0.01, currency: 'EUR' };
  const body = values.body ? readFileSync(values.body) : Buffer.from(JSON.stringify(order));
  const client = values.namespace
    ? new ServiceBusClient(fullName(values.namespace), new DefaultAzureCredential())
    : new ServiceBusClient(connectionString ?? '');
  try {
    const problems = await runSmoke({ client, queue, id, body, timeoutInMs, say: (line) => console.log(line) });
    for (const problem of problems) console.error(problem);
    if (problems.length === 0) console.log('all is well');
    return problems.length === 0 ? 0 : 1;
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    return 1;
  } finally {
    await client.close();
  }
}

/** As the portal shows it, or in full. */
function fullName(namespace: string): string {
  return namespace.includes('.') ? namespace : `${namespace}.servicebus.windows.net`;
}
