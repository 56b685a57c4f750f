import { type Attributes, SpanStatusCode } from '@opentelemetry/api';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { measureWith } from '../../../../functions/core/adapters/telemetry/instruments.ts';
import { logTelemetry } from '../../../../functions/core/adapters/telemetry/log-telemetry.ts';
import { measureStranded } from '../../../../functions/core/adapters/telemetry/measure-stranded.ts';
import { DeliveryWatch } from '../../../../functions/core/adapters/telemetry/watch-delivery.ts';
import type { Clock, Report } from '../../../../functions/core/pipeline/ports.ts';
import { processDelivery } from '../../../../functions/core/pipeline/process-delivery.ts';
import { processWide } from '../../../../functions/core/pipeline/process-wide.ts';
import type { Delivery } from '../../../../functions/core/rules/delivery.ts';
import type { HandlerContext } from '../../../../functions/core/rules/handler.ts';
import { fakeSender } from '../../../fakes/fake-sender.ts';
import { fakeSettlement } from '../../../fakes/fake-settlement.ts';
import { type Faults, none } from '../../../fakes/faults.ts';
import { type InMemoryLedger, inMemoryLedger } from '../../../fakes/in-memory-ledger.ts';
import { journal } from '../../../fakes/journal.ts';
import { virtualClock } from '../../../fakes/virtual-clock.ts';
import { aPolicy, CONSUMER, ENQUEUED_UTC } from '../../../fixtures/deliveries.ts';
import { lockToken } from '../../pipeline/a-stage.ts';

/** A value of a metric: what a counter has counted, or the sum of a histogram. */
export interface Point {
  readonly name: string;
  readonly unit: string;
  readonly attributes: Attributes;
  readonly value: number;
  /** Of a histogram. */
  readonly count?: number;
}

/** A consumer among fakes whose deliveries are watched, with exporters in memory. */
export interface WatchedConsumer {
  readonly ledger: InMemoryLedger;
  deliver(delivery: Delivery, traceparent?: string): Promise<Report>;
  /** Delivers the message to a process that dies as soon as it has called the handler; another takes its place. */
  deliverAndDie(delivery: Delivery): Promise<void>;
  /** Lets so much time go by, in ms. */
  pass(inMs: number): Promise<void>;
  /** Delivers a message again that nobody settled: after its lock, and any lease on its event, have ended. */
  deliverAgain(delivery: Delivery): Promise<Report>;
  /** Delivers the message, then each copy once it is due and so much later, until none is left. */
  deliverAll(delivery: Delivery, lateInMs?: number): Promise<Report[]>;
  /** A sweep finds an event of this consumer stranded. */
  strand(kind: 'scheduled' | 'unsent'): void;
  points(): Promise<readonly Point[]>;
  /** What was logged, oldest first. */
  lines(): readonly Record<string, unknown>[];
  /** In the order in which they ended. */
  spans(): readonly ReadableSpan[];
}

class Reader extends MetricReader {
  protected override onForceFlush = async () => {};
  protected override onShutdown = async () => {};
}

export function aWatchedConsumer(
  handle: (context: HandlerContext) => Promise<unknown>,
  settleFaults: Faults = none,
): WatchedConsumer {
  const clock = virtualClock(ENQUEUED_UTC);
  const steps = journal(clock);
  const ledger = inMemoryLedger(clock);
  const sender = fakeSender(steps, none);
  const settlement = fakeSettlement(steps, settleFaults, none);
  let wide = processWide(clock);
  const lines: Record<string, unknown>[] = [];
  const log = logTelemetry((level, line) => lines.push({ level, ...JSON.parse(line) }));
  const reader = new Reader();
  const measure = measureWith(new MeterProvider({ readers: [reader] }).getMeter('test'));
  const exporter = new InMemorySpanExporter();
  const tracers = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const tracer = tracers.getTracer('test');
  let deliveries = 0;

  const deliver = async (
    message: Delivery,
    traceparent?: string,
    own: { readonly clock?: Clock; readonly handle?: typeof handle } = {},
  ): Promise<Report> => {
    const delivery = { ...message, lockToken: lockToken(++deliveries) };
    const watch = new DeliveryWatch(measure, tracer, { delivery, consumer: CONSUMER, clock, traceparent });
    const consumer = {
      name: CONSUMER,
      policyName: 'order-placed',
      policy: aPolicy(),
      validate: (value: unknown) => ({ kind: 'valid', event: value }) as const,
      handle: watch.handler((_event: unknown, context: HandlerContext) => (own.handle ?? handle)(context)),
    };
    const ports = {
      clock: own.clock ?? clock,
      ledger: watch.ledger(ledger),
      sender: watch.sender(sender),
      settlement: watch.settlement(settlement),
      telemetry: watch.telemetry(log),
      processWide: wide,
    };
    return watch.within(() =>
      processDelivery(delivery, consumer, ports, {
        startedAtInMs: clock.monotonicInMs(),
        budgetInMs: 60_000,
        stopping: new AbortController().signal,
        traceparent: watch.traceparent,
        log: () => undefined,
      }),
    );
  };
  return {
    ledger,
    deliver: (delivery, traceparent) => deliver(delivery, traceparent),
    async deliverAndDie(delivery) {
      const called = Promise.withResolvers<void>();
      const never = new Promise<never>(() => undefined);
      // Neither its handler nor any of its timers ends any more.
      void deliver(delivery, undefined, {
        clock: { ...clock, sleep: () => never },
        handle: () => {
          called.resolve();
          return never;
        },
      });
      await called.promise;
      wide = processWide(clock);
    },
    pass: (inMs) => clock.advance(inMs),
    strand: (kind) => measureStranded(measure, [{ consumer: CONSUMER, kind }]),
    async deliverAgain(delivery) {
      await clock.advance(aPolicy().handlerTimeoutInMs + 60_000);
      const lockedUntilUtc = clock.nowUtc() + 60_000;
      return deliver({ ...delivery, lockedUntilUtc, deliveryCount: delivery.deliveryCount + 1 });
    },
    async deliverAll(first, lateInMs = 0) {
      const seen = new Set(sender.accepted.keys());
      const reports = [await deliver(first)];
      for (;;) {
        const copy = [...sender.accepted.values()].find(({ messageId }) => !seen.has(messageId));
        if (!copy) return reports;
        seen.add(copy.messageId);
        await clock.advance(copy.dueUtc + lateInMs - clock.nowUtc());
        const enqueued = { enqueuedUtc: copy.dueUtc, lockedUntilUtc: clock.nowUtc() + 60_000 };
        const { messageId, set: properties } = copy;
        reports.push(
          await deliver({ ...first, ...enqueued, messageId, properties, sequenceNumber: String(deliveries) }),
        );
      }
    },
    async points() {
      const { resourceMetrics } = await reader.collect();
      return resourceMetrics.scopeMetrics.flatMap(({ metrics }) =>
        metrics.flatMap(({ descriptor: { name, unit }, dataPoints }) =>
          dataPoints.map(({ attributes, value }) => {
            const point = { name, unit, attributes };
            if (typeof value === 'number') return { ...point, value };
            return { ...point, value: ('sum' in value && value.sum) || 0, count: value.count };
          }),
        ),
      );
    },
    lines: () => lines,
    spans: () => exporter.getFinishedSpans(),
  };
}

/** A span with its parents' names, nearest first, as far as they are known. */
export function lineOf(span: ReadableSpan, spans: readonly ReadableSpan[]): string {
  const parent = spans.find((each) => each.spanContext().spanId === span.parentSpanContext?.spanId);
  const failed = span.status.code === SpanStatusCode.ERROR ? ` failed ${span.attributes['error.type']}` : '';
  return `${span.name}${failed}${parent ? ` < ${lineOf(parent, spans)}` : ''}`;
}
