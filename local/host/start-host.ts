import type { ServiceBusClient } from '@azure/service-bus';
import { readHostJson } from './host-json.ts';
import { type InvocationEvent, Invoker } from './invoker.ts';
import type { Listener } from './listener.ts';
import type { LogEntry } from './log-entry.ts';
import { isLogged } from './log-levels.ts';
import type { Settings } from './setting-reference.ts';
import { HeldMessages } from './settlement/held-messages.ts';
import { startSettlementService } from './settlement/settlement-service.ts';
import { planTriggers } from './triggers.ts';
import { WorkerKeeper } from './worker-keeper.ts';

const DRAIN_LIMIT_IN_MS = 10_000;
const CLOSE_LIMIT_IN_MS = 5_000;
/** What the real host gives a worker between `terminate` and its end. */
const TERMINATE_LIMIT_IN_MS = 5_000;

export interface HostOptions {
  /** Holds package.json, host.json and the built app. */
  readonly appDirectory: string;
  /** App settings: the environment of the app, and what triggers refer to. */
  readonly settings: Settings;
  /** Told each line that `logging.logLevel` of host.json lets through: without it, `information` and above. */
  readonly onLog: (entry: LogEntry) => void;
  readonly onInvocation?: (event: InvocationEvent) => void;
  /** How long `stop` waits for running invocations before it ends the worker under them, in ms. Default 10 000. */
  readonly drainLimitInMs?: number;
  /** Port on 127.0.0.1 for HTTP triggers; 0, the default, takes a free one. */
  readonly httpPort?: number;
}

/** A running Functions host with one app. */
export interface Host {
  /** Names of the functions the app has registered, in order; also of those that are disabled. */
  readonly functions: readonly string[];
  /** Where HTTP triggers are served; undefined when the app has none. */
  readonly httpPort: number | undefined;
  /** Stops receiving, lets running invocations end within the limit, runs the appTerminate hooks, ends the worker. */
  stop(): Promise<void>;
}

/**
 * Starts the app in a child process and feeds it from its triggers, as the Functions host does.
 *
 * @throws Error with one clear line first when host.json, a trigger or a setting is wrong, or when the app refuses to
 * load or to start; nothing is left running then and no message was touched.
 */
export async function startHost(options: HostOptions): Promise<Host> {
  const { appDirectory, settings, drainLimitInMs = DRAIN_LIMIT_IN_MS } = options;
  const { config, warnings } = await readHostJson(appDirectory, settings);
  const onLog = (entry: LogEntry) => {
    if (isLogged(entry, config.logLevels)) options.onLog(entry);
  };
  for (const message of warnings) onLog({ level: 'warning', category: 'Host.Startup', message });

  const held = new HeldMessages();
  const settlement = await startSettlementService(held);
  const clients = new Map<string, ServiceBusClient>();
  const listeners: Listener[] = [];
  let worker: WorkerKeeper | undefined;
  let httpPort: number | undefined;

  const idle = () => Promise.race([Promise.all(listeners.map((listener) => listener.idle())), elapsed(drainLimitInMs)]);
  const stop = async () => {
    await Promise.all(listeners.map((listener) => listener.stopReceiving()));
    await idle();
    await worker?.stop(TERMINATE_LIMIT_IN_MS);
    // What the end of the worker has cut short is abandoned now, before the links close.
    await idle();
    // A client may wait a minute for a broker that is gone.
    await Promise.race([
      Promise.all([...clients.values()].map((client) => client.close())),
      elapsed(CLOSE_LIMIT_IN_MS),
    ]);
    settlement.stop();
  };

  try {
    worker = await WorkerKeeper.start({ appDirectory, settings, port: settlement.port, onLog });
    const invoker = new Invoker({
      worker,
      onLog,
      onInvocation: options.onInvocation ?? (() => undefined),
      functionTimeoutInMs: config.functionTimeoutInMs,
    });
    const triggers = planTriggers(worker.functions, {
      settings,
      config,
      invoker,
      held,
      clients,
      onLog,
      httpPort: options.httpPort ?? 0,
    });
    ({ httpPort } = await triggers.start(listeners));
  } catch (error) {
    await stop();
    throw error;
  }
  let stopped: Promise<void> | undefined;
  return {
    functions: worker.functions.map(({ name }) => name),
    httpPort,
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}

function elapsed(inMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, inMs).unref());
}
