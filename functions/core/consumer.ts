import { app, type InvocationContext } from '@azure/functions';
import type { ServiceBusClient } from '@azure/service-bus';
import type { z } from 'zod';
import { inflate } from './adapters/body/inflate.ts';
import { type CopySender, copySender } from './adapters/service-bus/copy-sender.ts';
import { deliveryFromAmqp, type ReceivedMessage } from './adapters/service-bus/delivery-from-amqp.ts';
import { hostSettlement } from './adapters/service-bus/host-settlement.ts';
import { registerReceivedMessages } from './adapters/service-bus/received-messages.ts';
import { serviceBusClient } from './adapters/service-bus/service-bus-client.ts';
import { settlementService } from './adapters/service-bus/settlement-service.ts';
import { systemClock } from './adapters/system-clock.ts';
import { type CheckedLedger, ledgerFromSettings } from './adapters/table-storage/ledger-from-settings.ts';
import { logTelemetry } from './adapters/telemetry/log-telemetry.ts';
import type { EventConsumer, Ports, Validation } from './pipeline/event-consumer.ts';
import { processDelivery } from './pipeline/process-delivery.ts';
import { processWide } from './pipeline/process-wide.ts';
import type { Delivery } from './rules/delivery.ts';
import type { Handler } from './rules/handler.ts';
import type { HostLimits, RetryPolicy } from './rules/policy.ts';
import {
  type Environment,
  problemsOf,
  readHostLimits,
  readPolicy,
  resolveReferences,
  SettingsError,
  unknownPolicySettings,
} from './settings.ts';

/** One event: what it looks like, what it needs, what is done with it. */
export interface EventDefinition<Event, Settings> {
  /** Kebab-case; the function's name, and its part of the setting names. */
  readonly name: string;
  readonly schema: z.ZodType<Event>;
  /** The event's own settings, by their names in the environment. */
  readonly settings: z.ZodType<Settings>;
  /** Makes the handler from the settings, once, at start. */
  handler(settings: Settings): Handler<Event>;
  /** The event's own id, where it has a better one than MessageId. */
  eventId?(event: Event, delivery: Delivery): string;
}

/** What {@link consume} takes. */
export interface ConsumerDefinition<Event, Settings> {
  /** Name of the queue; `%SETTING%` is replaced by that setting. */
  readonly queue: string;
  readonly event: EventDefinition<Event, Settings>;
  /** What differs from the defaults. */
  readonly policy: Partial<RetryPolicy>;
  /** Name of the connection's setting; `ServiceBusConnection` if absent. */
  readonly connection?: string;
  /**
   * Takes messages in batches, as large as `host.json` says. Each is processed and settled by itself, and the host renews
   * no lock: the handler's time is what the queue's lock duration leaves.
   */
  readonly batch?: boolean;
  /** Whether the queue is session-aware; refused unless the policy says `ordering: 'none'`. */
  readonly sessions?: boolean;
}

/** A definition once its settings are read. */
interface Prepared<Event> {
  readonly queue: string;
  readonly consumer: EventConsumer<Event>;
  readonly sender: CopySender;
  /** How long the lock is held and the function may run, in ms. */
  readonly budgetInMs: number;
}

/**
 * Registers a Service Bus function that consumes one event. Nothing is connected yet: before the first trigger runs,
 * the settings of all events are checked, each sender link is opened and the ledger is written and read. What fails
 * there stops the app with one error that names every problem, and no message is touched.
 */
export function consume<Event, Settings>(definition: ConsumerDefinition<Event, Settings>): void {
  const { queue, event, connection = 'ServiceBusConnection', batch = false, sessions = false } = definition;
  const prepared = application.add(event.name, (host, problems) => prepare(definition, connection, host, problems));
  app.serviceBusQueue<ReceivedMessage | ReceivedMessage[]>(event.name, {
    connection,
    queueName: queue,
    sdkBinding: true,
    autoCompleteMessages: false,
    cardinality: batch ? 'many' : 'one',
    ...(sessions ? { isSessionsEnabled: true } : {}),
    handler: async (received, context) => {
      const messages = Array.isArray(received) ? received : [received];
      await Promise.all(messages.map((message) => application.process(message, context, prepared())));
    },
  });
}

function prepare<Event, Settings>(
  { queue, event, policy: own, batch = false, sessions = false }: ConsumerDefinition<Event, Settings>,
  connection: string,
  host: HostLimits,
  problems: string[],
): Prepared<Event> | undefined {
  const queueName = resolveReferences(queue, process.env, problems);
  const settings = event.settings.safeParse(process.env);
  if (!settings.success)
    problems.push(...problemsOf(settings.error).map((problem) => `${problem} (for ${event.name})`));
  const { policy, limits } = readPolicy(event.name, own, process.env, { ...host, batch, sessions }, problems);
  const client = application.client(connection, problems);
  if (!client || !settings.success) return undefined;
  const { eventId } = event;
  return {
    queue: queueName,
    sender: copySender(client, queueName),
    budgetInMs: Math.min(limits.functionTimeoutInMs, limits.maxAutoLockRenewalInMs),
    consumer: {
      name: `${queueName}/${event.name}`,
      policyName: event.name,
      policy,
      handle: event.handler(settings.data),
      validate: (value) => validate(event.schema, value),
      ...(eventId ? { eventId: (value: Event, delivery: Delivery) => eventId(value, delivery) } : {}),
    },
  };
}

function validate<Event>(schema: z.ZodType<Event>, value: unknown): Validation<Event> {
  try {
    const read = schema.safeParse(value);
    return read.success ? { kind: 'valid', event: read.data } : { kind: 'invalid', problems: problemsOf(read.error) };
  } catch (error) {
    return { kind: 'invalid', problems: [`the schema itself failed: ${String(error)}`] };
  }
}

type Prepare = (host: HostLimits, problems: string[]) => Prepared<never> | undefined;

/** How long deliveries in flight are waited for when the process is told to stop: the host gives a worker 5 s. */
const STOP_LIMIT_IN_MS = 4_000;
/** And before a process whose handler runs on against its signal is ended. */
const RECYCLE_LIMIT_IN_MS = 30_000;

/** What all consumers of a process share: one connection, one ledger, one signal to stop. */
class Application {
  readonly #definitions = new Map<string, { prepare: Prepare; prepared: Prepared<never> | undefined }>();
  readonly #clients = new Map<string, ServiceBusClient>();
  readonly #settlement = hostSettlement(settlementService(process.argv));
  readonly #processWide = processWide(systemClock);
  readonly #stopping = new AbortController();
  readonly #inFlight = new Set<Promise<void>>();
  #ledger: CheckedLedger | undefined;
  #recycling: Promise<void> | undefined;

  /** @returns what the definition has become, once the app has started */
  add<Event>(name: string, prepareIt: (host: HostLimits, problems: string[]) => Prepared<Event> | undefined) {
    if (this.#definitions.has(name)) throw new Error(`Two events are named ${name}: each needs a name of its own.`);
    if (this.#definitions.size === 0) {
      registerReceivedMessages();
      app.hook.appStart(() => this.start(process.env));
      app.hook.appTerminate(() => this.stop());
    }
    const definition: { prepare: Prepare; prepared: Prepared<never> | undefined } = {
      prepare: prepareIt as Prepare,
      prepared: undefined,
    };
    this.#definitions.set(name, definition);
    return () => definition.prepared as Prepared<Event> | undefined;
  }

  /** The process's one connection under this name. */
  client(name: string, problems: string[]): ServiceBusClient | undefined {
    const client = this.#clients.get(name) ?? serviceBusClient(name, process.env, problems);
    if (client) this.#clients.set(name, client);
    return client;
  }

  async start(environment: Environment): Promise<void> {
    const problems = unknownPolicySettings([...this.#definitions.keys()], environment);
    const host = readHostLimits(environment, problems);
    for (const definition of this.#definitions.values()) definition.prepared = definition.prepare(host, problems);
    const ledger = ledgerFromSettings(environment, systemClock, problems);
    if (problems.length > 0) throw new SettingsError([...new Set(problems)]);

    const senders = [...this.#definitions.values()].map(({ prepared }) => prepared?.sender.open());
    const checks = await Promise.allSettled([...senders, ledger?.check()]);
    problems.push(...checks.flatMap((check) => (check.status === 'rejected' ? [messageOf(check.reason)] : [])));
    if (problems.length > 0) {
      await this.#close();
      throw new SettingsError(problems);
    }
    this.#ledger = ledger;
  }

  /**
   * Processes one message. Never rejects: returning without a settlement leaves the message to its lock, a throw would
   * have it abandoned at once, in a loop.
   */
  async process<Event>(
    message: ReceivedMessage,
    context: InvocationContext,
    prepared: Prepared<Event> | undefined,
  ): Promise<void> {
    // Whoever waits for the end of this process holds on to a place in it, so that the host brings no more.
    await this.#recycling;
    const delivery = this.#process(message, context, prepared).catch((error) =>
      context.error(`left to its lock: ${error instanceof Error ? error.stack : String(error)}`),
    );
    this.#inFlight.add(delivery);
    await delivery;
    this.#inFlight.delete(delivery);
  }

  async #process<Event>(message: ReceivedMessage, context: InvocationContext, prepared: Prepared<Event> | undefined) {
    const startedAtInMs = systemClock.monotonicInMs();
    if (!prepared || !this.#ledger) throw new Error('the app has not started');
    const { consumer, queue, sender, budgetInMs } = prepared;
    const ports: Ports = {
      clock: systemClock,
      ledger: this.#ledger,
      sender,
      settlement: this.#settlement,
      telemetry: logTelemetry((level, line) => {
        if (level === 'information') context.info(line);
        else if (level === 'warning') context.warn(line);
        else context.error(line);
      }),
      inflate,
      processWide: this.#processWide,
    };
    const { stillRuns } = await processDelivery(deliveryFromAmqp(message, queue), consumer, ports, {
      startedAtInMs,
      budgetInMs,
      stopping: this.#stopping.signal,
      traceparent: context.traceContext?.traceParent,
      log: (line) => context.log(line),
    });
    if (stillRuns) this.#recycling ??= this.#recycle(context);
  }

  /** Ends the process once its other deliveries have ended: a handler that runs on may do anything at any time. */
  async #recycle(context: InvocationContext): Promise<void> {
    context.error('a handler ignored its signal: this process ends, and the host starts another');
    await this.#idle(RECYCLE_LIMIT_IN_MS);
    process.exit(1);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#idle(STOP_LIMIT_IN_MS);
    await this.#close();
  }

  async #idle(limitInMs: number): Promise<void> {
    const ended = new AbortController();
    await Promise.race([Promise.allSettled(this.#inFlight), systemClock.sleep(limitInMs, ended.signal)]);
    ended.abort();
  }

  async #close(): Promise<void> {
    await Promise.allSettled([...this.#clients.values()].map((client) => client.close()));
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const application = new Application();
