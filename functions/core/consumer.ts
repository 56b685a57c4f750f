import { app } from '@azure/functions';
import type { z } from 'zod';
import { copySender } from './adapters/service-bus/copy-sender.ts';
import type { ReceivedMessage } from './adapters/service-bus/delivery-from-amqp.ts';
import { Application, type Prepared } from './application.ts';
import type { EventConsumer, Validation } from './pipeline/event-consumer.ts';
import type { Delivery } from './rules/delivery.ts';
import { fingerprintOf } from './rules/fingerprint.ts';
import type { Handler } from './rules/handler.ts';
import type { HostLimits, RetryPolicy } from './rules/policy.ts';
import { problemsOf, readPolicy, resolveReferences } from './settings.ts';

/** One event: what it looks like, what it needs, what is done with it. */
export interface EventDefinition<Event, Settings> {
  /** Kebab-case; also its part of the setting names, and with underscores the function's name. */
  readonly name: string;
  readonly schema: z.ZodType<Event>;
  /** The event's own settings, by their names in the environment. */
  readonly settings: z.ZodType<Settings>;
  /** Makes the handler from the settings, once, at start. */
  handler(settings: Settings): Handler<Event>;
  /**
   * What makes up the event's content (`[order.amount, order.currency]`): where given, a delivery with a known id and
   * another content is no duplicate but dead-lettered `IdempotencyConflict`.
   */
  fingerprint?(event: Event): readonly (string | number)[];
  /**
   * Called for a duplicate with what the handler returned when the event was done, if it returned something. It has a
   * handler's time; then `signal` fires, and the duplicate is completed.
   */
  onDuplicate?(
    result: unknown,
    context: { readonly eventId: string; readonly signal: AbortSignal; readonly log: (message: string) => void },
  ): Promise<void>;
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
  /**
   * Whether the queue is session-aware; refused unless the policy says `ordering: 'none'`. Copies stay in their session.
   * The host renews the lock on a session from its acceptance on, for `maxAutoLockRenewalDuration` in all: the last
   * message of a busy session may lose it, and is then found done or is run again.
   */
  readonly sessions?: boolean;
}

/**
 * Registers a Service Bus function that consumes one event. Nothing is connected yet: before the first trigger runs,
 * the settings of all events are checked, each sender link is opened and the ledger is written and read. What fails
 * there stops the app with one error that names every problem, and no message is touched.
 */
export function consume<Event, Settings>(definition: ConsumerDefinition<Event, Settings>): void {
  const { queue, event, connection = 'ServiceBusConnection', batch = false, sessions = false } = definition;
  const prepared = application.add(event.name, (host, problems) => prepare(definition, connection, host, problems));
  app.serviceBusQueue<ReceivedMessage | ReceivedMessage[]>(functionName(event.name), {
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

/**
 * Registers a timer function that deletes what the ledger need not remember any longer, and reports what is stranded:
 * events that should have moved on by themselves and have not.
 */
export function sweepLedger({
  name,
  schedule,
}: {
  readonly name: string;
  /** NCRONTAB, with seconds. */
  readonly schedule: string;
}): void {
  application.listen();
  app.timer(functionName(name), { schedule, handler: (_timer, context) => application.sweep(context) });
}

/**
 * What the host calls a function: with underscores, for `AzureWebJobs.<function>.Disabled` stops it at once, and on Linux
 * the name of a setting takes no hyphen.
 */
const functionName = (name: string): string => name.replaceAll('-', '_');

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
  return {
    queue: queueName,
    sender: copySender(client, queueName),
    settlement: application.settlement(sessions),
    budgetInMs: Math.min(limits.functionTimeoutInMs, limits.maxAutoLockRenewalInMs),
    consumer: {
      name: `${queueName}/${event.name}`,
      policyName: event.name,
      policy,
      handle: event.handler(settings.data),
      validate: (value) => validate(event.schema, value),
      ...optionsOf(event),
    },
  };
}

/** What an event may leave out. */
function optionsOf<Event, Settings>(
  event: EventDefinition<Event, Settings>,
): Pick<EventConsumer<Event>, 'eventId' | 'fingerprint' | 'onDuplicate'> {
  const { eventId, fingerprint, onDuplicate } = event;
  return {
    ...(eventId && { eventId: (value: Event, delivery: Delivery) => eventId(value, delivery) }),
    ...(fingerprint && { fingerprint: (value: Event) => fingerprintOf(...fingerprint(value)) }),
    ...(onDuplicate && { onDuplicate }),
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

const application = new Application();
