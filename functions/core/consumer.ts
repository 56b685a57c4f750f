import { app, type InvocationContext } from '@azure/functions';
import type { ServiceBusClient } from '@azure/service-bus';
import type { z } from 'zod';
import { type CopySender, copySender } from './adapters/service-bus/copy-sender.ts';
import { deliveryFromAmqp, type ReceivedMessage } from './adapters/service-bus/delivery-from-amqp.ts';
import { hostSettlement } from './adapters/service-bus/host-settlement.ts';
import { registerReceivedMessages } from './adapters/service-bus/received-messages.ts';
import { serviceBusClient } from './adapters/service-bus/service-bus-client.ts';
import { settlementService } from './adapters/service-bus/settlement-service.ts';
import { systemClock } from './adapters/system-clock.ts';
import { type CheckedLedger, ledgerFromSettings } from './adapters/table-storage/ledger-from-settings.ts';
import { logTelemetry } from './adapters/telemetry/log-telemetry.ts';
import type { EventConsumer, Validation } from './pipeline/event-consumer.ts';
import { processDelivery } from './pipeline/process-delivery.ts';
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
}

/** A definition once its settings are read. */
interface Prepared<Event> {
  readonly queue: string;
  readonly consumer: EventConsumer<Event>;
  readonly sender: CopySender;
}

/**
 * Registers a Service Bus function that consumes one event. Nothing is connected yet: before the first trigger runs,
 * the settings of all events are checked, each sender link is opened and the ledger is written and read. What fails
 * there stops the app with one error that names every problem, and no message is touched.
 */
export function consume<Event, Settings>(definition: ConsumerDefinition<Event, Settings>): void {
  const { queue, event, connection = 'ServiceBusConnection' } = definition;
  const prepared = application.add(event.name, (host, problems) => prepare(definition, connection, host, problems));
  app.serviceBusQueue<ReceivedMessage>(event.name, {
    connection,
    queueName: queue,
    sdkBinding: true,
    autoCompleteMessages: false,
    handler: async (message, context) => {
      // Returning without a settlement leaves the message to its lock; a throw would have it abandoned at once, in a loop.
      try {
        await application.process(message, context, prepared());
      } catch (error) {
        context.error(`left to its lock: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
      }
    },
  });
}

function prepare<Event, Settings>(
  { queue, event, policy }: ConsumerDefinition<Event, Settings>,
  connection: string,
  host: HostLimits,
  problems: string[],
): Prepared<Event> | undefined {
  const queueName = resolveReferences(queue, process.env, problems);
  const settings = event.settings.safeParse(process.env);
  if (!settings.success)
    problems.push(...problemsOf(settings.error).map((problem) => `${problem} (for ${event.name})`));
  const checkedPolicy = readPolicy(event.name, policy, process.env, host, problems);
  const client = application.client(connection, problems);
  if (!client || !settings.success) return undefined;
  const { eventId } = event;
  return {
    queue: queueName,
    sender: copySender(client, queueName),
    consumer: {
      name: `${queueName}/${event.name}`,
      policyName: event.name,
      policy: checkedPolicy,
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

/** What all consumers of a process share: one connection, one ledger, one signal to stop. */
class Application {
  readonly #definitions = new Map<string, { prepare: Prepare; prepared: Prepared<never> | undefined }>();
  readonly #clients = new Map<string, ServiceBusClient>();
  readonly #stopping = new AbortController();
  readonly #settlement = hostSettlement(settlementService(process.argv));
  #ledger: CheckedLedger | undefined;
  #host: HostLimits | undefined;

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
    problems.push(
      ...checks.flatMap((check) =>
        check.status === 'rejected' ? [String(check.reason?.message ?? check.reason)] : [],
      ),
    );
    if (problems.length > 0) throw new SettingsError(problems);
    this.#ledger = ledger;
    this.#host = host;
  }

  async process<Event>(
    message: ReceivedMessage,
    context: InvocationContext,
    prepared: Prepared<Event> | undefined,
  ): Promise<void> {
    const startedAtInMs = systemClock.monotonicInMs();
    if (!prepared || !this.#ledger || !this.#host) throw new Error('the app has not started');
    const { consumer, queue, sender } = prepared;
    const telemetry = logTelemetry((level, line) => {
      if (level === 'information') context.info(line);
      else if (level === 'warning') context.warn(line);
      else context.error(line);
    });
    const ports = { clock: systemClock, ledger: this.#ledger, sender, settlement: this.#settlement, telemetry };
    await processDelivery(deliveryFromAmqp(message, queue), consumer, ports, {
      startedAtInMs,
      budgetInMs: Math.min(this.#host.functionTimeoutInMs, this.#host.maxAutoLockRenewalInMs),
      stopping: this.#stopping.signal,
      traceparent: context.traceContext?.traceParent,
      log: (line) => context.log(line),
    });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.allSettled([...this.#clients.values()].map((client) => client.close()));
  }
}

const application = new Application();
