import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { ServiceBusClient, type ServiceBusSender } from '@azure/service-bus';
import { packageApp } from '../infra/package.ts';
import { type Azurite, startAzurite } from '../local/azurite.ts';
import { startHost } from '../local/host/start-host.ts';
import { aTemporaryFolder, removeFolder } from '../test/helpers/temporary-folder.ts';
import { startOtlpReceiver } from '../test/telemetry/otlp-receiver.ts';
import { inTurn, median, timeOf } from './rounds.ts';
import { startServer } from './server-process.ts';

const COUNT = 400;
const WARM_UP = 1_200;
const LIMITS = { rounds: 12, limitInMs: 45_000 };

/** What a consumer costs that exports what it does, beside the same one that exports nothing. */
export interface TelemetryCost {
  /** Messages a second, from the first one sent to the last one settled. */
  readonly quiet: number;
  readonly exporting: number;
  /** By how much fewer messages a second pass, as a share. */
  readonly overhead: number;
  /** By how much more processor time the worker takes for a message: what counts where that is all it waits for. */
  readonly cpuOverhead: number;
  readonly rounds: number;
  /** Spans and log lines that were to arrive at the receiver and have not. */
  readonly missing: number;
}

/** The package as it is deployed, on a host, a broker and a ledger of its own. */
interface Consumer {
  /** Sends so many messages, and waits until all are settled. */
  pass(count: number): Promise<void>;
  /** Processor time of the worker so far, in ms. */
  cpuInMs(): Promise<number>;
  stop(): Promise<void>;
}

/** The same work with telemetry off, and with metrics, traces and logs exported to a receiver for OTLP, in turn. */
export async function telemetryCost(): Promise<TelemetryCost> {
  const app = await aTemporaryFolder('bench');
  await packageApp(join(import.meta.dirname, 'telemetry-app'), app);
  const azurite = await startAzurite();
  const receiver = await startOtlpReceiver();
  const [quiet, exporting] = await Promise.all([
    aConsumer(app, azurite, 'quiet', {}),
    aConsumer(app, azurite, 'exporting', { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url }),
  ]);
  const cpu = { quiet: 0, exporting: 0 };
  const rateOf = (consumer: Consumer, name: keyof typeof cpu) => async () => {
    const before = await consumer.cpuInMs();
    const rate = (COUNT * 1_000) / (await timeOf(() => consumer.pass(COUNT)));
    cpu[name] += (await consumer.cpuInMs()) - before;
    return rate;
  };
  try {
    for (const consumer of [quiet, exporting]) await consumer.pass(WARM_UP);
    const pairs = await inTurn(LIMITS, rateOf(quiet, 'quiet'), rateOf(exporting, 'exporting'));
    await exporting.stop();
    const delivered = WARM_UP + pairs.length * COUNT;
    // Of each delivery its own span, that of its settlement, and its line.
    return {
      quiet: median(pairs.map(({ first }) => first)),
      exporting: median(pairs.map(({ second }) => second)),
      overhead: 1 - median(pairs.map(({ first, second }) => second / first)),
      cpuOverhead: cpu.exporting / cpu.quiet - 1,
      rounds: pairs.length,
      missing: 3 * delivered - receiver.spans.length - receiver.logs.length,
    };
  } finally {
    await Promise.all([quiet.stop(), exporting.stop()]);
    await receiver.stop();
    await azurite.stop();
    await removeFolder(app);
  }
}

async function aConsumer(
  app: string,
  azurite: Azurite,
  table: string,
  settings: Readonly<Record<string, string>>,
): Promise<Consumer> {
  const broker = await startServer('broker-server.ts');
  const connection = `Endpoint=sb://127.0.0.1:${broker.port};SharedAccessKeyName=bench;SharedAccessKey=none;UseDevelopmentEmulator=true;`;
  const client = new ServiceBusClient(connection);
  const sender = client.createSender('bench');
  let usagePort = 0;
  let left = 0;
  let done = Promise.withResolvers<void>();
  const host = await startHost({
    appDirectory: app,
    settings: {
      ServiceBusConnection: connection,
      AzureWebJobsStorage: azurite.connectionString,
      LedgerStorage: azurite.connectionString,
      LEDGER_TABLE: table,
      languageWorkers__node__arguments: `--import ${new URL('./tell-usage.ts', import.meta.url)}`,
      ...settings,
    },
    onLog: ({ message }) => {
      usagePort ||= Number(/^usage is told on port (\d+)$/.exec(message)?.[1] ?? 0);
    },
    onInvocation: ({ kind }) => {
      if (kind !== 'started' && --left === 0) done.resolve();
    },
  });
  let stopped: Promise<void> | undefined;
  const stop = async () => {
    await host.stop();
    await client.close();
    await broker.stop();
  };
  return {
    async pass(count) {
      left = count;
      done = Promise.withResolvers();
      await sendMany(sender, count);
      await done.promise;
    },
    async cpuInMs() {
      return Number(await text(connect(usagePort, '127.0.0.1')));
    },
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}

let sent = 0;

async function sendMany(sender: ServiceBusSender, count: number): Promise<void> {
  const body = Buffer.from(JSON.stringify({ note: 'x'.repeat(185) }));
  const messages = Array.from({ length: count }, () => ({ messageId: `m-${++sent}`, body }));
  for (let from = 0; from < count; from += 200) await sender.sendMessages(messages.slice(from, from + 200));
}
