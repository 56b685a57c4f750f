import { app, type InvocationContext } from '@azure/functions';
import type { ServiceBusClient } from '@azure/service-bus';
import { inflate } from './adapters/body/inflate.ts';
import type { CopySender } from './adapters/service-bus/copy-sender.ts';
import { deliveryFromAmqp, type ReceivedMessage } from './adapters/service-bus/delivery-from-amqp.ts';
import { hostSettlement } from './adapters/service-bus/host-settlement.ts';
import { registerReceivedMessages } from './adapters/service-bus/received-messages.ts';
import { serviceBusClient } from './adapters/service-bus/service-bus-client.ts';
import { settlementService } from './adapters/service-bus/settlement-service.ts';
import { systemClock } from './adapters/system-clock.ts';
import { type CheckedLedger, ledgerFromSettings } from './adapters/table-storage/ledger-from-settings.ts';
import { exportedTelemetry, isExported } from './adapters/telemetry/exported-telemetry.ts';
import { logTelemetry } from './adapters/telemetry/log-telemetry.ts';
import type { ExportedTelemetry } from './adapters/telemetry/start-telemetry.ts';
import type { EventConsumer, Ports } from './pipeline/event-consumer.ts';
import type { Settlement } from './pipeline/ports.ts';
import { processDelivery } from './pipeline/process-delivery.ts';
import { processWide } from './pipeline/process-wide.ts';
import { withoutLedger } from './pipeline/without-ledger.ts';
import type { HostLimits } from './rules/policy.ts';
import {
  type Environment,
  readHostLimits,
  readRetentionInMs,
  SettingsError,
  unknownPolicySettings,
} from './settings.ts';

/** A definition once its settings are read. */
export interface Prepared<Event> {
  readonly queue: string;
  readonly consumer: EventConsumer<Event>;
  readonly sender: CopySender;
  readonly settlement: Settlement;
  /** How long the lock is held and the function may run, in ms. */
  readonly budgetInMs: number;
}

type Prepare = (host: HostLimits, problems: string[]) => Prepared<never> | undefined;

/** How long deliveries in flight are waited for when the process is told to stop: the host gives a worker 5 s. */
const STOP_LIMIT_IN_MS = 4_000;
/** And before a process whose handler runs on against its signal is ended. */
const RECYCLE_LIMIT_IN_MS = 30_000;

/** What all functions of a process share: one connection, one ledger, one signal to stop. */
export class Application {
  readonly #definitions = new Map<string, { prepare: Prepare; prepared: Prepared<never> | undefined }>();
  readonly #clients = new Map<string, ServiceBusClient>();
  readonly #settlementService = settlementService(process.argv);
  readonly #processWide = processWide(systemClock);
  readonly #stopping = new AbortController();
  readonly #inFlight = new Set<Promise<void>>();
  /** Absent where no event needs one. */
  #ledger: CheckedLedger | undefined;
  /** Absent where nothing is exported. */
  #exported: ExportedTelemetry | undefined;
  #retentionInMs = 0;
  /** Where the next sweep begins. */
  #nextPartition = 0;
  #isListening = false;
  #isStarted = false;
  #recycling: Promise<void> | undefined;

  /** @returns what the definition has become, once the app has started */
  add<Event>(name: string, prepareIt: (host: HostLimits, problems: string[]) => Prepared<Event> | undefined) {
    if (this.#definitions.has(name)) throw new Error(`Two events are named ${name}: each needs a name of its own.`);
    this.listen();
    const definition: { prepare: Prepare; prepared: Prepared<never> | undefined } = {
      prepare: prepareIt as Prepare,
      prepared: undefined,
    };
    this.#definitions.set(name, definition);
    return () => definition.prepared as Prepared<Event> | undefined;
  }

  /** Follows the life of the app; the first call counts. */
  listen(): void {
    if (this.#isListening) return;
    this.#isListening = true;
    registerReceivedMessages();
    if (isExported(process.env)) {
      app.setup({ capabilities: { WorkerOpenTelemetryEnabled: true } });
      app.hook.log((line) => this.#exported?.log(line));
    }
    app.hook.appStart(() => this.start(process.env));
    app.hook.appTerminate(() => this.stop());
  }

  /** The process's one connection under this name. */
  client(name: string, problems: string[]): ServiceBusClient | undefined {
    const client = this.#clients.get(name) ?? serviceBusClient(name, process.env, problems);
    if (client) this.#clients.set(name, client);
    return client;
  }

  /** What settles the messages of a queue, with sessions or without. */
  settlement(sessions: boolean): Settlement {
    return hostSettlement(this.#settlementService, { sessions });
  }

  /** Checks all settings, opens every sender link, writes and reads the ledger. @throws one error that names every problem */
  async start(environment: Environment): Promise<void> {
    const problems = unknownPolicySettings([...this.#definitions.keys()], environment);
    const host = readHostLimits(environment, problems);
    for (const definition of this.#definitions.values()) definition.prepared = definition.prepare(host, problems);
    const policies = [...this.#definitions.values()].flatMap(({ prepared }) => prepared?.consumer.policy ?? []);
    const isNeeded = policies.length === 0 || policies.some((policy) => policy.ledger === 'on');
    const longestWindowInMs = Math.max(0, ...policies.map(({ windowInMs }) => windowInMs));
    this.#retentionInMs = readRetentionInMs(environment, longestWindowInMs, problems);
    const ledger = isNeeded ? ledgerFromSettings(environment, systemClock, problems) : undefined;
    this.#exported = await exportedTelemetry(environment).catch((error) => {
      problems.push(`telemetry: ${messageOf(error)}`);
      return undefined;
    });
    if (problems.length > 0) {
      await this.#exported?.stop();
      throw new SettingsError([...new Set(problems)]);
    }

    const senders = [...this.#definitions.values()].map(({ prepared }) => prepared?.sender.open());
    const checks = await Promise.allSettled([...senders, ledger?.check()]);
    problems.push(...checks.flatMap((check) => (check.status === 'rejected' ? [messageOf(check.reason)] : [])));
    if (problems.length > 0) {
      await this.#close();
      throw new SettingsError(problems);
    }
    this.#ledger = ledger;
    this.#isStarted = true;
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
    if (!prepared || !this.#isStarted) throw new Error('the app has not started');
    const { consumer, queue, sender, settlement, budgetInMs } = prepared;
    const delivery = deliveryFromAmqp(message, queue);
    const traceparent = context.traceContext?.traceParent;
    const watched = { delivery, consumer: consumer.name, clock: systemClock, traceparent };
    const watch = this.#exported?.watch(watched);
    const ledger = consumer.policy.ledger === 'on' ? this.#ledger : undefined;
    const telemetry = logTelemetry((level, line) => {
      if (level === 'information') context.info(line);
      else if (level === 'warning') context.warn(line);
      else context.error(line);
    });
    const ports: Ports = {
      clock: systemClock,
      ledger: (ledger && watch?.ledger(ledger)) ?? ledger ?? withoutLedger(delivery.deliveryCount),
      sender: watch?.sender(sender) ?? sender,
      settlement: watch?.settlement(settlement) ?? settlement,
      telemetry: watch?.telemetry(telemetry) ?? telemetry,
      inflate,
      processWide: this.#processWide,
    };
    const watchedConsumer = watch ? { ...consumer, handle: watch.handler(consumer.handle) } : consumer;
    const processIt = () =>
      processDelivery(delivery, watchedConsumer, ports, {
        startedAtInMs,
        budgetInMs,
        stopping: this.#stopping.signal,
        traceparent: watch?.traceparent ?? traceparent,
        log: (line) => context.log(line),
      });
    const { stillRuns } = await (watch ? watch.within(processIt) : processIt());
    if (stillRuns) this.#recycling ??= this.#recycle(context);
  }

  /** Ends the process once its other deliveries have ended: a handler that runs on may do anything at any time. */
  async #recycle(context: InvocationContext): Promise<void> {
    context.error('a handler ignored its signal: this process ends, and the host starts another');
    await this.#idle(RECYCLE_LIMIT_IN_MS);
    await this.#exported?.stop();
    process.exit(1);
  }

  /** Sweeps the ledger, on from where the last sweep ended, and logs what it did and found. */
  async sweep(context: InvocationContext): Promise<void> {
    if (!this.#ledger) return;
    const { stranded, failure, ...swept } = await this.#ledger.sweep({
      retentionInMs: this.#retentionInMs,
      firstPartition: this.#nextPartition,
      signal: this.#stopping.signal,
    });
    this.#nextPartition = swept.nextPartition;
    context.info(JSON.stringify({ event: 'ledger.swept', ...swept, ...(failure && { failure: failure.message }) }));
    this.#exported?.stranded(stranded);
    for (const one of stranded) context.warn(JSON.stringify({ event: 'ledger.stranded', ...one }));
  }

  /** Tells the handlers to stop, waits for their deliveries for a while, then closes the connections. */
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
    await Promise.allSettled([...[...this.#clients.values()].map((client) => client.close()), this.#exported?.stop()]);
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
