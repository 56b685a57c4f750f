import type { ServiceBusClient } from '@azure/service-bus';
import { expect, vi } from 'vitest';
import type { Report } from '../../../functions/core/pipeline/ports.ts';
import type { LogEntry } from '../../../local/host/log-entry.ts';
import { type Host, startHost } from '../../../local/host/start-host.ts';
import type { PaymentProvider } from '../../../local/provider/payment-provider.ts';
import { deadLetters } from '../../../local/scenario/queue-view.ts';
import { reportIn } from '../../../local/scenario/run-scenario.ts';
import type { Bus } from './bus.ts';
import type { Director, Run, Script } from './director.ts';
import { AT_MOST } from './stage.ts';

/** What a story works on. */
export interface StoryOptions {
  readonly app: string;
  readonly queue: string;
  readonly bus: Bus;
  readonly provider: PaymentProvider;
  readonly director: Director;
  readonly client: ServiceBusClient;
  readonly settings: Readonly<Record<string, string>>;
}

/** What became of a story's events, in numbers. */
export interface Tally {
  readonly events: number;
  /** Events that were charged, and how often in all. */
  readonly charged: number;
  readonly charges: number;
  /** Dead letters by reason. */
  readonly deadLetters: Readonly<Record<string, number>>;
  readonly runs: number;
  /** The most attempts that an event took. */
  readonly attempts: number;
  readonly outcomes: Readonly<Record<string, number>>;
}

/** One queue with its events and hosts. Events go by short names: their ids begin with the queue's name. */
export class Story {
  readonly log: LogEntry[] = [];
  readonly reports: Report[] = [];
  readonly settings: Readonly<Record<string, string>>;
  readonly #options: StoryOptions;
  readonly #hosts = new Set<Host>();
  readonly #eventIds = new Set<string>();

  constructor(options: StoryOptions) {
    this.#options = options;
    this.settings = options.settings;
  }

  /** Starts the app, beside those that run already. */
  async startHost(
    settings: Readonly<Record<string, string>> = {},
    options: { readonly drainLimitInMs?: number } = {},
  ): Promise<Host> {
    const host = await startHost({
      appDirectory: this.#options.app,
      settings: { ...this.settings, ...settings },
      onLog: (entry) => this.note(entry),
      ...options,
    });
    this.#hosts.add(host);
    return host;
  }

  /** Takes a log line, and the report in it if there is one. */
  note(entry: LogEntry): void {
    this.log.push(entry);
    const report = reportIn(entry);
    if (report) this.reports.push(report);
  }

  /** Sends an event for each name, together, and has its runs do what its script says; all in one session, if any. */
  async send(scripts: Readonly<Record<string, Script>>, sessionId?: string): Promise<void> {
    const { client, queue, director } = this.#options;
    const messages = Object.entries(scripts).map(([name, script]) => {
      const eventId = this.eventId(name);
      this.#eventIds.add(eventId);
      director.direct(eventId, script);
      const body = { orderId: eventId, amount: 25, currency: 'EUR' };
      const message = { messageId: eventId, body, contentType: 'application/json' };
      return sessionId === undefined ? message : { ...message, sessionId };
    });
    const sender = client.createSender(queue);
    await sender.sendMessages(messages);
    await sender.close();
  }

  eventId(name: string): string {
    return `${this.#options.queue}.${name}`;
  }

  /** The starts of the handler, for all events or for one. */
  runs(name?: string): Run[] {
    return this.#options.director.runs.filter(({ eventId }) =>
      name === undefined ? this.#eventIds.has(eventId) : eventId === this.eventId(name),
    );
  }

  outcomes(name: string): string[] {
    return this.reportsOf(name).map(({ outcome }) => outcome);
  }

  reportsOf(name: string): Report[] {
    return this.reports.filter(({ eventId }) => eventId === this.eventId(name));
  }

  /** The host's lines at the ends of invocations, in order. */
  endsOfInvocations(): string[] {
    return this.log.map(({ message }) => message).filter((message) => message.startsWith("Executed 'Functions."));
  }

  /** Waits for something that does come true. */
  until(condition: () => void | Promise<void>): Promise<void> {
    return vi.waitFor(condition, AT_MOST);
  }

  /** Waits until the queue is empty, whatever waited in it, and all that was delivered has been reported. */
  async emptied(): Promise<void> {
    const { bus, queue } = this.#options;
    await this.until(async () => {
      const waiting = await bus.waiting(queue);
      const started = this.log.filter(({ message }) => message.startsWith("Executing 'Functions."));
      const running = started.length - this.endsOfInvocations().length;
      expect({ waiting, running }).toEqual({ waiting: 0, running: 0 });
    });
  }

  /**
   * Waits until the queue is empty, prints the counts, and holds the story to what must be true of every one: each event
   * was charged once, or lies once among the dead letters with the reason given here; no event took more attempts than
   * its policy permits.
   */
  async end(deadLettered: Readonly<Record<string, string>> = {}): Promise<Tally> {
    await this.emptied();
    const { client, queue, provider } = this.#options;
    const letters = await deadLetters(client, queue);
    const charges = new Map(provider.charges.map(({ orderId, count }) => [orderId, count]));
    const ends = [...this.#eventIds].map((eventId) => ({
      eventId,
      charges: charges.get(eventId) ?? 0,
      deadLetters: letters.filter((letter) => eventIdOf(letter) === eventId).map(({ reason }) => reason),
    }));
    const attempts = Math.max(...this.runs().map(({ attempt }) => attempt));
    const tally: Tally = {
      events: ends.length,
      charged: ends.filter((end) => end.charges > 0).length,
      charges: ends.reduce((sum, end) => sum + end.charges, 0),
      deadLetters: counted(letters.map(({ reason }) => reason ?? 'none')),
      runs: this.runs().length,
      attempts,
      outcomes: counted(this.reports.map(({ outcome }) => outcome)),
    };
    console.info(`${queue}: ${JSON.stringify(tally)}`);

    const reasons = new Map(Object.entries(deadLettered).map(([name, reason]) => [this.eventId(name), reason]));
    expect(ends).toEqual(
      ends.map(({ eventId }) => {
        const reason = reasons.get(eventId);
        return reason ? { eventId, charges: 0, deadLetters: [reason] } : { eventId, charges: 1, deadLetters: [] };
      }),
    );
    expect(letters).toHaveLength(reasons.size);
    expect(attempts).toBeLessThanOrEqual(Math.max(...this.reports.map(({ maxAttempts }) => maxAttempts)));
    return tally;
  }

  /** Stops the hosts. */
  async stop(): Promise<void> {
    await Promise.all([...this.#hosts].map((host) => host.stop()));
  }
}

const eventIdOf = ({ messageId, applicationProperties }: Awaited<ReturnType<typeof deadLetters>>[number]): string =>
  String(applicationProperties['retry-event-id'] ?? messageId);

function counted(values: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}
