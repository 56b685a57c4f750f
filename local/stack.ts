import { join } from 'node:path';
import { type Azurite, startAzurite } from './azurite.ts';
import { loadEntities } from './broker/entities.ts';
import { type Broker, startBroker } from './broker/start-broker.ts';
import type { LogEntry } from './host/log-entry.ts';
import { readLocalSettings } from './host/settings.ts';
import { type Host, type HostOptions, startHost } from './host/start-host.ts';
import { type PaymentProvider, type ProviderScript, startPaymentProvider } from './provider/payment-provider.ts';

export interface StackOptions {
  /** The folder with package.json, host.json, local.settings.json and the built `dist`. */
  readonly project: string;
  /** App settings over those of local.settings.json; the stack's own addresses win over both. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly script?: ProviderScript;
  /** 0, the default of each, takes a free one. */
  readonly ports?: {
    readonly broker?: number;
    readonly table?: number;
    readonly provider?: number;
    readonly http?: number;
  };
  readonly drainLimitInMs?: HostOptions['drainLimitInMs'];
  readonly onLog: (entry: LogEntry) => void;
}

/** Everything that stands in for Azure on one machine, with the app running on it. */
export interface Stack {
  readonly broker: Broker;
  readonly azurite: Azurite;
  readonly provider: PaymentProvider;
  readonly host: Host;
  /**
   * Stops the host, lets the app be exchanged, and starts a host anew. The rest runs on.
   *
   * @throws as starting does, and where it is to end before; no host runs then
   */
  restartHost(exchange?: () => Promise<void>): Promise<void>;
  /** Stops all of it, the host first; safe to call twice. */
  stop(): Promise<void>;
}

/**
 * Starts broker, Azurite, payment provider and host, in that order.
 *
 * @throws Error with the one line of what did not start; everything that had started is stopped again
 */
export async function startStack(options: StackOptions, signal?: AbortSignal): Promise<Stack> {
  const { project, settings = {}, script, ports = {}, drainLimitInMs, onLog } = options;
  const started: { stop(): Promise<void> }[] = [];
  const stop = async () => {
    for (const part of started.splice(0).reverse()) await part.stop();
  };
  const start = async <Part extends { stop(): Promise<void> }>(part: Promise<Part>): Promise<Part> => {
    const running = await part;
    started.push(running);
    signal?.throwIfAborted();
    return running;
  };
  try {
    const entities = await loadEntities(join(project, 'local', 'entities.json'));
    const localSettings = await readLocalSettings(join(project, 'local.settings.json'));
    const broker = await start(startBroker({ entities, port: ports.broker ?? 0 }));
    const azurite = await start(startAzurite({ port: ports.table ?? 0 }));
    const provider = await start(startPaymentProvider({ ...(script ? { script } : {}), port: ports.provider ?? 0 }));
    const newHost = () =>
      startHost({
        appDirectory: project,
        onLog,
        httpPort: ports.http ?? 0,
        ...(drainLimitInMs === undefined ? {} : { drainLimitInMs }),
        settings: {
          ...localSettings,
          ...settings,
          ServiceBusConnection: broker.connectionString,
          AzureWebJobsStorage: azurite.connectionString,
          LedgerStorage: azurite.connectionString,
          PAYMENTS_URL: provider.url,
        },
      });
    let host = await newHost();
    started.push({ stop: () => host.stop() });
    signal?.throwIfAborted();
    return {
      broker,
      azurite,
      provider,
      get host() {
        return host;
      },
      async restartHost(exchange) {
        await host.stop();
        await exchange?.();
        signal?.throwIfAborted();
        host = await newHost();
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
