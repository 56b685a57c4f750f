import { join } from 'node:path';
import { ServiceBusClient, type ServiceBusReceivedMessage } from '@azure/service-bus';
import Long from 'long';
import { expect, inject, vi } from 'vitest';
import type { Report } from '../../../functions/core/pipeline/ports.ts';
import { loadEntities } from '../../../local/broker/entities.ts';
import type { Broker } from '../../../local/broker/start-broker.ts';
import type { InvocationEvent } from '../../../local/host/invoker.ts';
import { readLocalSettings } from '../../../local/host/settings.ts';
import { type Host, startHost } from '../../../local/host/start-host.ts';
import { type PaymentProvider, startPaymentProvider } from '../../../local/provider/payment-provider.ts';
import { BUILT_IN_QUEUE as QUEUE } from '../../../local/scenario/built-in.ts';
import { type InputMessage, parseInput } from '../../../local/scenario/input.ts';
import { deadLetters } from '../../../local/scenario/queue-view.ts';
import type { DeadLetterRow } from '../../../local/scenario/result.ts';
import { providerScript, ReportCollector, sendMessages } from '../../../local/scenario/run-scenario.ts';
import { takeStock } from '../../helpers/leftovers.ts';
import { aBus } from './bus.ts';
import { someTables, type Tables } from './tables.ts';
import type { Target } from './target.ts';

/** One line of an input file, before it is JSON. */
export type Line = Readonly<Record<string, unknown>> & { readonly messageId: string };

/** All that stands in for Azure, without a host as yet: what is sent before one starts waits for it. */
export interface Stage {
  /** For what no Service Bus does for a test; see `needs`. */
  readonly broker: Broker;
  readonly tables: Pick<Tables, 'connectionString'>;
  readonly provider: PaymentProvider;
  readonly client: ServiceBusClient;
  /** The settings of the app on this stage. */
  readonly settings: Readonly<Record<string, string>>;
  readonly reports: readonly Report[];
  /** What the host has told of its invocations, in order. */
  readonly invocations: readonly InvocationEvent[];
  /** Starts the app with settings over the stage's own. One host at a time. */
  startHost(changed?: Readonly<Record<string, string | undefined>>): Promise<Host>;
  /** Sends lines of an input file; what the provider answers to them holds from then on. */
  send(...lines: readonly Line[]): Promise<void>;
  /** The same to another queue, or to a topic. */
  sendTo(entity: string, ...lines: readonly Line[]): Promise<void>;
  /** Waits until a delivery of the event has ended so. */
  until(eventId: string, outcome: Report['outcome']): Promise<void>;
  /** The outcomes of the event's deliveries, in order. */
  outcomes(eventId: string): string[];
  /** What is in the queue now, whatever its state, as the SDK sees it. */
  messages(): Promise<ServiceBusReceivedMessage[]>;
  deadLetters(): Promise<DeadLetterRow[]>;
  /** Stops everything, and fails where something is left behind. */
  stop(): Promise<void>;
}

/** How long a condition may take on a slow machine. */
export const AT_MOST = { timeout: 60_000, interval: 25 };

/** Starts a payment provider, and broker and Azurite unless there is a target, for the app in this folder. */
export async function aStage(
  app: string,
  settings: Readonly<Record<string, string>> = {},
  target: Target | undefined = inject('target'),
): Promise<Stage> {
  const expectNothingLeft = takeStock();
  const collector = new ReportCollector(() => undefined);
  const invocations: InvocationEvent[] = [];
  const messages: InputMessage[] = [];
  const bus = await aBus(await loadEntities(join(app, 'local', 'entities.json')), target);
  const tables = await someTables(target);
  const provider = await startPaymentProvider({
    script: (...call) => providerScript(messages, QUEUE, ['order-placed'])(...call),
  });
  const client = new ServiceBusClient(bus.connectionString);
  const all = {
    ...(await readLocalSettings(join(app, 'local.settings.json'))),
    ServiceBusConnection: bus.connectionString,
    ...tables.settings,
    PAYMENTS_URL: provider.url,
    ...settings,
  };
  const reportsOf = (eventId: string) => collector.reports.map(({ report }) => report).filter(isOf(eventId));
  const sendTo = async (entity: string, ...lines: readonly Line[]) => {
    const parsed = parseInput(lines.map((line) => JSON.stringify(line)).join('\n'), 'input');
    messages.push(...parsed);
    await sendMessages(client, entity, parsed);
  };
  let host: Host | undefined;
  return {
    get broker() {
      return bus.broker;
    },
    tables,
    provider,
    client,
    settings: all,
    invocations,
    get reports() {
      return collector.reports.map(({ report }) => report);
    },
    async startHost(changed = {}) {
      host = await startHost({
        appDirectory: app,
        settings: withoutUndefined({ ...all, ...changed }),
        onLog: collector.onLog,
        onInvocation: (event) => invocations.push(event),
      });
      return host;
    },
    send: (...lines) => sendTo(QUEUE, ...lines),
    sendTo,
    until: (eventId, outcome) =>
      vi.waitFor(() => expect(reportsOf(eventId).map((report) => report.outcome)).toContain(outcome), AT_MOST),
    outcomes: (eventId) => reportsOf(eventId).map(({ outcome }) => outcome),
    async messages() {
      const receiver = client.createReceiver(QUEUE);
      const messages = await receiver.peekMessages(100, { fromSequenceNumber: Long.ZERO });
      await receiver.close();
      return messages;
    },
    deadLetters: () => deadLetters(client, QUEUE),
    async stop() {
      await host?.stop();
      await client.close();
      await provider.stop();
      await tables.stop();
      await bus.stop();
      await expectNothingLeft();
    },
  };
}

const isOf = (eventId: string) => (report: Report) => report.eventId === eventId;

const withoutUndefined = (settings: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(settings).filter((entry): entry is [string, string] => entry[1] !== undefined));
