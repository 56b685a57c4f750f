import { ServiceBusClient } from '@azure/service-bus';
import type { Report } from '../../functions/core/pipeline/ports.ts';
import { idempotencyKey } from '../../functions/core/rules/hash.ts';
import type { LogEntry } from '../host/log-entry.ts';
import type { ProviderScript } from '../provider/payment-provider.ts';
import type { Stack } from '../stack.ts';
import type { InputMessage } from './input.ts';
import { deadLetters, waitingMessageIds } from './queue-view.ts';
import { eventRows, type Result, type TimedReport } from './result.ts';

export const QUEUE = 'billing-order-placed';
const CONSUMER = `${QUEUE}/order-placed`;
const POLL_IN_MS = 100;

/** What the provider answers: found by the key that the consumer derives from the event's id. */
export function providerScript(messages: readonly InputMessage[]): ProviderScript {
  const answers = new Map<string, InputMessage['provider']>();
  for (const { messageId, provider } of messages) {
    const key = idempotencyKey(CONSUMER, messageId);
    if (!answers.has(key)) answers.set(key, provider);
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

/**
 * Sends the messages and waits until the queue is empty and each message has come to an end, or the time is up.
 *
 * @returns the result without its verdict
 */
export async function runScenario(
  stack: Pick<Stack, 'broker' | 'provider'>,
  messages: readonly InputMessage[],
  collector: ReportCollector,
  options: { readonly timeoutInMs: number; readonly signal: AbortSignal },
): Promise<Omit<Result, 'ok'>> {
  const client = new ServiceBusClient(stack.broker.connectionString);
  try {
    const sender = client.createSender(QUEUE);
    collector.start();
    const endsAtInMs = performance.now() + options.timeoutInMs;
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
    const messageIds = messages.map(({ messageId }) => messageId);
    for (;;) {
      const waiting = await waitingMessageIds(client, QUEUE);
      const letters = await deadLetters(client, QUEUE);
      const events = eventRows(messageIds, collector.reports, letters, waiting);
      const done = events.every(({ final }) => final !== 'pending');
      if (done || performance.now() >= endsAtInMs || options.signal.aborted) {
        return { events, deadLetterQueue: letters, charges: [...stack.provider.charges] };
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_IN_MS));
    }
  } finally {
    await client.close();
  }
}
