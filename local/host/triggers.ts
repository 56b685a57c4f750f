import type { ServiceBusClient } from '@azure/service-bus';
import { isDisabled } from './disabled.ts';
import type { HostConfig } from './host-json.ts';
import { type HttpFunction, startHttpListener } from './http/http-listener.ts';
import { parseRoute } from './http/route.ts';
import type { Firing, Invoker } from './invoker.ts';
import type { Listener } from './listener.ts';
import type { LogEntry } from './log-entry.ts';
import { startBatchListener } from './service-bus/batch-listener.ts';
import { connectTo, nextSession, receiverFor } from './service-bus/client.ts';
import { startSessionListener } from './service-bus/session-listener.ts';
import { startSingleListener } from './service-bus/single-listener.ts';
import { readServiceBusTrigger } from './service-bus/trigger.ts';
import { resolveReferences, type Settings } from './setting-reference.ts';
import type { HeldMessages } from './settlement/held-messages.ts';
import { parseSchedule } from './timer/schedule.ts';
import { startTimerListener } from './timer/timer-listener.ts';
import type { Binding, FunctionMetadata } from './worker-protocol.ts';

export interface TriggerOptions {
  readonly settings: Settings;
  readonly config: HostConfig;
  readonly invoker: Invoker;
  readonly held: HeldMessages;
  /** Clients by connection, shared by all triggers; whoever owns the map closes them. */
  readonly clients: Map<string, ServiceBusClient>;
  readonly onLog: (entry: LogEntry) => void;
  /** For HTTP triggers; 0 takes a free one. */
  readonly httpPort: number;
}

/** The triggers of an app, all of them read and found good, none of them listening yet. */
export interface PlannedTriggers {
  /** Starts them one after the other; each is in the list as soon as it listens. */
  start(listeners: Listener[]): Promise<{ readonly httpPort: number | undefined }>;
}

/**
 * Reads the triggers of all functions that are not disabled. None listens before all are read: a wrong one must not be
 * found after another has taken messages. A kind of trigger that this host does not serve gives a warning.
 *
 * @throws Error with one line that names the function and what is wrong.
 */
export function planTriggers(functions: readonly FunctionMetadata[], options: TriggerOptions): PlannedTriggers {
  const starts: (() => Promise<Listener> | Listener)[] = [];
  const httpFunctions: HttpFunction[] = [];
  for (const target of functions) {
    if (isDisabled(target.name, options.settings)) {
      options.onLog({
        level: 'information',
        category: 'Host.Startup',
        message: `Function "${target.name}" is disabled by its setting: its trigger does not listen.`,
        functionName: target.name,
      });
      continue;
    }
    const trigger = Object.values(target.bindings).find(({ type }) => /trigger$/i.test(type));
    switch (trigger?.type.toLowerCase()) {
      case 'servicebustrigger':
        starts.push(planServiceBus(target, trigger, options));
        break;
      case 'timertrigger':
        starts.push(planTimer(target, trigger, options));
        break;
      case 'httptrigger':
        httpFunctions.push(planHttp(target, trigger, options));
        break;
      default:
        options.onLog({
          level: 'warning',
          category: 'Host.Startup',
          message: `Function "${target.name}" never runs: the local host serves no trigger of the type ${trigger?.type ?? '(none)'}.`,
          functionName: target.name,
        });
    }
  }
  return {
    start: async (listeners) => {
      for (const start of starts) listeners.push(await start());
      if (httpFunctions.length === 0) return { httpPort: undefined };
      const http = await startHttpListener(httpFunctions, options.httpPort);
      listeners.push(http);
      return { httpPort: http.port };
    },
  };
}

function planServiceBus(target: FunctionMetadata, binding: Binding, options: TriggerOptions): () => Promise<Listener> {
  const { config, held, onLog, settings, clients, invoker } = options;
  const trigger = readServiceBusTrigger(target, binding, settings);
  if (target.retryOptions) {
    onLog({
      level: 'warning',
      category: 'Host.Startup',
      message: `Function "${target.name}" has a retry policy, which has no effect: a Service Bus trigger has none. What to do: remove "retry"; how often a message is tried is up to the maximum delivery count of its queue or subscription, or to the function.`,
      functionName: target.name,
    });
  }
  const { entity } = trigger;
  const shared = {
    functionName: target.name,
    trigger,
    config: config.serviceBus,
    held,
    invoke: (firing: Firing) => invoker.invoke(target, firing),
    onLog,
  };
  return async () => {
    const client = await connectTo(trigger.connection, clients);
    if (trigger.isSessionsEnabled) {
      return startSessionListener({ ...shared, nextSession: (stopped) => nextSession(client, entity, stopped) });
    }
    const startListener = trigger.isBatch ? startBatchListener : startSingleListener;
    return startListener({ ...shared, receiver: receiverFor(client, entity) });
  };
}

function planTimer(target: FunctionMetadata, binding: Binding, { settings, invoker }: TriggerOptions): () => Listener {
  const where = `The trigger of function "${target.name}"`;
  const text = resolveReferences(String(binding['schedule'] ?? ''), settings, `${where}, schedule,`);
  const schedule = parseSchedule(text, settings['WEBSITE_TIME_ZONE'] ?? 'UTC', where);
  const runOnStartup = binding['runOnStartup'] === true;
  return () => startTimerListener({ schedule, runOnStartup, invoke: (firing) => invoker.invoke(target, firing) });
}

function planHttp(
  target: FunctionMetadata,
  binding: Binding,
  { config, settings, invoker }: TriggerOptions,
): HttpFunction {
  const where = `The trigger of function "${target.name}", route,`;
  const route = resolveReferences(String(binding['route'] ?? target.name), settings, where);
  const methods = Array.isArray(binding['methods']) ? binding['methods'].map(String) : ['GET', 'POST'];
  return {
    route: parseRoute(`${config.httpRoutePrefix}/${route}`),
    methods: methods.map((method) => method.toUpperCase()),
    invoke: (firing) => invoker.invoke(target, firing),
  };
}
