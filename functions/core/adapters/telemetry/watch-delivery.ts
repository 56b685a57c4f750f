import { type Context, context, type Span, type Tracer, trace } from '@opentelemetry/api';
import type { Clock, Ledger, Report, Sender, Settlement, Telemetry } from '../../pipeline/ports.ts';
import { clockSkewInMs } from '../../rules/clock-skew.ts';
import type { Delivery } from '../../rules/delivery.ts';
import { type Envelope, PROPERTY, readEnvelope } from '../../rules/envelope.ts';
import type { Handler } from '../../rules/handler.ts';
import { boundedCode, errorType } from './bounded-code.ts';
import { failureOf, measureArrival, measureEnd } from './delivery-metrics.ts';
import { type Child, fail, inChildSpan, SYSTEM, startProcessSpan } from './delivery-spans.ts';
import { OTHER } from './few-values.ts';
import { ATTRIBUTE, type Measure } from './instruments.ts';
import { sentBy, traceparentOf } from './trace-context.ts';

/** What is watched: one delivery on its way to a consumer. */
export interface Watched {
  readonly delivery: Delivery;
  /** Entity and consumer, as in `retry-consumer`. */
  readonly consumer: string;
  readonly clock: Pick<Clock, 'nowUtc' | 'monotonicInMs'>;
  /** W3C trace context of the invocation, where there is one. */
  readonly traceparent: string | undefined;
}

/**
 * Watches one delivery from outside: each port that it is processed with goes through here, does what it did, and is
 * measured. So the pipeline knows of no span, and a process that exports nothing pays nothing.
 */
export class DeliveryWatch {
  readonly #measure: Measure;
  readonly #tracer: Tracer;
  readonly #watched: Watched;
  readonly #envelope: Envelope;
  readonly #span: Span;
  readonly #context: Context;
  #copyAttempt: number | undefined;
  #isLockLost = false;
  #takeovers = 0;
  #storeNowUtc: (() => number | undefined) | undefined;

  constructor(measure: Measure, tracer: Tracer, watched: Watched) {
    this.#measure = measure;
    this.#tracer = tracer;
    this.#watched = watched;
    this.#envelope = readEnvelope(watched.delivery, watched.consumer);
    this.#span = startProcessSpan(tracer, watched.delivery, watched.traceparent);
    this.#context = trace.setSpan(context.active(), this.#span);
  }

  /** Trace context of the delivery's own span. */
  get traceparent(): string | undefined {
    return traceparentOf(this.#span.spanContext());
  }

  /** Processes the delivery in its span: whatever is called meanwhile is part of it. */
  async within<Value>(process: () => Promise<Value>): Promise<Value> {
    const { delivery, consumer } = this.#watched;
    try {
      const arrived = { delivery, envelope: this.#envelope };
      measureArrival(this.#measure, arrived, consumer, { nowUtc: () => this.#brokerNowUtc() });
      return await context.with(this.#context, process);
    } catch (error) {
      fail(this.#span, OTHER, error);
      throw error;
    } finally {
      this.#span.end();
    }
  }

  /** The handler, each of its calls measured. */
  handler<Event>(handle: Handler<Event>): Handler<Event> {
    const { clock, consumer } = this.#watched;
    return async (event, about) => {
      const startedAtInMs = clock.monotonicInMs();
      try {
        return await handle(event, about);
      } finally {
        this.#measure('handlerDuration', (clock.monotonicInMs() - startedAtInMs) / 1_000, {
          [ATTRIBUTE.consumer]: consumer,
        });
      }
    };
  }

  /** The ledger, each call of it measured. */
  ledger(ledger: Ledger): Ledger {
    this.#storeNowUtc = () => ledger.serverNowUtc?.();
    return {
      serverNowUtc: () => ledger.serverNowUtc?.(),
      claim: async (...args) => {
        const claim = await this.#ask('claim', () => ledger.claim(...args));
        if (claim.kind === 'run') this.#takeovers = claim.hold.record.takeovers;
        return claim;
      },
      record: (...args) => this.#ask('record', () => ledger.record(...args)),
    };
  }

  /** The sender, with a span for each copy that is sent. */
  sender(sender: Sender): Sender {
    const { maxMessageInBytes } = sender;
    return {
      ...(maxMessageInBytes !== undefined && { maxMessageInBytes }),
      send: (delivery, copy) => {
        const attributes = { 'messaging.message.id': copy.messageId };
        return this.#child({ operation: 'send', name: 'send', queue: delivery.entity, attributes }, async (span) => {
          let failure: string | undefined = OTHER;
          try {
            await sender.send(delivery, sentBy(copy, span.spanContext()));
            failure = undefined;
            this.#copyAttempt = Number(copy.set.get(PROPERTY.attempt)?.value ?? 0) + 1;
          } catch (error) {
            failure = errorType(error);
            throw error;
          } finally {
            this.#measure('sent', 1, {
              [ATTRIBUTE.system]: SYSTEM,
              [ATTRIBUTE.operationName]: 'send',
              [ATTRIBUTE.destination]: delivery.entity,
              [ATTRIBUTE.errorType]: failure,
            });
          }
        });
      },
    };
  }

  /** The settlement, with a span for each call that settles. */
  settlement(settlement: Settlement): Settlement {
    return {
      complete: (delivery) => this.#settle('complete', () => settlement.complete(delivery)),
      abandon: (delivery) => this.#settle('abandon', () => settlement.abandon(delivery)),
      deadLetter: (delivery, letter) => this.#settle('dead_letter', () => settlement.deadLetter(delivery, letter)),
      renewLock: (delivery) => settlement.renewLock(delivery),
    };
  }

  /** The telemetry, which ends the span with the report. */
  telemetry(telemetry: Telemetry): Telemetry {
    return {
      processed: (report) => {
        telemetry.processed(report);
        this.#ended(report);
      },
      log: (...args) => telemetry.log(...args),
    };
  }

  #ended(report: Report): void {
    const { eventId, generation, attempt, outcome, reason, description } = report;
    this.#span.setAttributes({
      'redelivery.event_id': eventId,
      'redelivery.generation': generation,
      [ATTRIBUTE.consumer]: report.consumer,
      [ATTRIBUTE.attempt]: attempt,
      [ATTRIBUTE.outcome]: outcome,
      ...(reason !== undefined && { [ATTRIBUTE.reason]: reason }),
      ...(this.#takeovers > 0 && { 'redelivery.takeovers': this.#takeovers }),
    });
    const failure = failureOf(report);
    if (failure) fail(this.#span, failure, description ?? reason ?? outcome);
    measureEnd(this.#measure, report, {
      delivery: this.#watched.delivery,
      envelope: this.#envelope,
      copyAttempt: this.#copyAttempt,
      isLockLost: this.#isLockLost,
      takeovers: this.#takeovers,
      nowUtc: this.#brokerNowUtc(),
    });
  }

  async #ask<Answer extends { readonly kind: string }>(operation: string, ask: () => Promise<Answer>): Promise<Answer> {
    const { clock, consumer } = this.#watched;
    const startedAtInMs = clock.monotonicInMs();
    let result: string = OTHER;
    try {
      const answer = await ask();
      result = answer.kind;
      return answer;
    } catch (error) {
      result = boundedCode((error as { code?: string }).code);
      throw error;
    } finally {
      this.#measure('ledgerDuration', (clock.monotonicInMs() - startedAtInMs) / 1_000, {
        [ATTRIBUTE.consumer]: consumer,
        [ATTRIBUTE.operation]: operation,
        [ATTRIBUTE.result]: result,
      });
    }
  }

  #settle(disposition: 'complete' | 'abandon' | 'dead_letter', call: () => Promise<void>): Promise<void> {
    const { delivery, consumer } = this.#watched;
    const attributes = { 'messaging.message.id': delivery.messageId, [ATTRIBUTE.disposition]: disposition };
    return this.#child({ operation: 'settle', name: disposition, queue: delivery.entity, attributes }, async () => {
      try {
        await call();
      } catch (error) {
        const type = errorType(error);
        if (type === 'MessageLockLost') this.#isLockLost = true;
        this.#measure('settlementFailures', 1, {
          [ATTRIBUTE.consumer]: consumer,
          [ATTRIBUTE.disposition]: disposition,
          [ATTRIBUTE.errorType]: type,
        });
        throw error;
      }
    });
  }

  #child<Value>(child: Child, call: (span: Span) => Promise<Value>): Promise<Value> {
    return inChildSpan(this.#tracer, this.#context, child, call);
  }

  #brokerNowUtc(): number {
    const { clock, delivery } = this.#watched;
    const nowUtc = clock.nowUtc();
    return nowUtc + clockSkewInMs(delivery.enqueuedUtc, this.#storeNowUtc?.(), nowUtc);
  }
}
