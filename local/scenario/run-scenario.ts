import { ServiceBusClient } from '@azure/service-bus';
import type { Report } from '../../functions/core/pipeline/ports.ts';
import { idempotencyKey } from '../../functions/core/rules/hash.ts';
import type { LogEntry } from '../host/log-entry.ts';
import type { ProviderScript } from '../provider/payment-provider.ts';
import type { Stack } from '../stack.ts';
import type { InputMessage } from './input.ts';
import { deadLetters, waitingMessageIds } from './queue-view.ts';
import { eventRows, type Result, type TimedReport } from './result.ts';

const POLL_IN_MS = 100;

/**
 * What the provider answers: found by the key that a consumer of the queue derives from the event's id.
 *
 * @param events names of the app's events; any of them may listen on the queue
 */
export function providerScript(
  messages: readonly InputMessage[],
  queue: string,
  events: readonly string[],
): ProviderScript {
  const answers = new Map<string, InputMessage['provider']>();
  for (const { messageId, provider } of messages) {
    for (const event of events) {
      const key = idempotencyKey(`${queue}/${event}`, messageId);
      if (!answers.has(key)) answers.set(key, provider);
    }
  }
  return (key) => answers.get(key) ?? [200];
}

/** The report in a log line of the app, if there is one. */
export function reportIn({ message }: LogEntry): Report | undefined {
  if (!message.startsWith('{"event":"delivery.processed"')) return undefined;
  return JSON.parse(message) as Report;
}

/** Collects the reports of the app, each with the time since the messages were sent. */
export class ReportCollector {
  readonly reports: TimedReport[] = [];
  readonly #onReport: (report: TimedReport) => void;
  #startedAtInMs = performance.now();

  constructor(onReport: (report: TimedReport) => void) {
    this.#onReport = onReport;
  }

  start(): void {
    this.#startedAtInMs = performance.now();
  }

  readonly onLog = (entry: LogEntry): void => {
    const report = reportIn(entry);
    if (!report) return;
    const timed = { atMs: Math.round(performance.now() - this.#startedAtInMs), report };
    this.reports.push(timed);
    this.#onReport(timed);
  };
}

/** Sends the messages to the queue, in order. */
export async function sendMessages(
  client: ServiceBusClient,
  queue: string,
  messages: readonly InputMessage[],
): Promise<void> {
  const sender = client.createSender(queue);
  for (const { messageId, body, contentType, applicationProperties, sessionId, timeToLiveInMs } of messages) {
    await sender.sendMessages({
      messageId,
      body,
      applicationProperties: { ...applicationProperties },
      ...(contentType === undefined ? {} : { contentType }),
      ...(sessionId === undefined ? {} : { sessionId }),
      ...(timeToLiveInMs === undefined ? {} : { timeToLive: timeToLiveInMs }),
    });
  }
  await sender.close();
}

/**
 * Sends the messages and waits until the queue is empty and each message has come to an end, or the time is up.
 *
 * @returns the result without its verdict
 */
export async function runScenario(
  stack: Pick<Stack, 'broker' | 'provider' | 'host'>,
  messages: readonly InputMessage[],
  collector: ReportCollector,
  options: { readonly queue: string; readonly timeoutInMs: number; readonly signal: AbortSignal },
): Promise<Omit<Result, 'ok'>> {
  const { queue, timeoutInMs, signal } = options;
  const client = new ServiceBusClient(stack.broker.connectionString);
  try {
    collector.start();
    const endsAtInMs = performance.now() + timeoutInMs;
    await sendMessages(client, queue, messages);
    const messageIds = messages.map(({ messageId }) => messageId);
    for (;;) {
      const waiting = await waitingMessageIds(client, queue);
      const letters = await deadLetters(client, queue);
      const events = eventRows(messageIds, collector.reports, letters, waiting);
      const done = events.every(({ final }) => final !== 'pending');
      if (done) {
        // The queue tells of a settlement before the app tells of its delivery; a host that has stopped has told all.
        await stack.host.stop();
        const told = eventRows(messageIds, collector.reports, letters, waiting);
        return { events: told, deadLetterQueue: letters, charges: [...stack.provider.charges] };
      }
      if (performance.now() >= endsAtInMs || signal.aborted) {
        return { events, deadLetterQueue: letters, charges: [...stack.provider.charges] };
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_IN_MS));
    }
  } finally {
    await client.close();
  }
}
