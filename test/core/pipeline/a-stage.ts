import { expect, onTestFinished } from 'vitest';
import type { EventConsumer, Invocation, Validation } from '../../../functions/core/pipeline/event-consumer.ts';
import type { EventKey, Report } from '../../../functions/core/pipeline/ports.ts';
import { processDelivery } from '../../../functions/core/pipeline/process-delivery.ts';
import { processWide } from '../../../functions/core/pipeline/process-wide.ts';
import type { Delivery } from '../../../functions/core/rules/delivery.ts';
import type { HandlerContext } from '../../../functions/core/rules/handler.ts';
import type { LedgerRecord } from '../../../functions/core/rules/ledger.ts';
import type { RetryPolicy } from '../../../functions/core/rules/policy.ts';
import { type FakeSender, fakeSender } from '../../fakes/fake-sender.ts';
import { type FakeSettlement, fakeSettlement } from '../../fakes/fake-settlement.ts';
import { type FakeTelemetry, fakeTelemetry } from '../../fakes/fake-telemetry.ts';
import { type Faults, none } from '../../fakes/faults.ts';
import { faultyLedger } from '../../fakes/faulty-ledger.ts';
import { type InMemoryLedger, inMemoryLedger } from '../../fakes/in-memory-ledger.ts';
import { type Journal, journal } from '../../fakes/journal.ts';
import { type VirtualClock, virtualClock } from '../../fakes/virtual-clock.ts';
import { aDelivery, anOrigin, aPolicy, CONSUMER, ENQUEUED_UTC } from '../../fixtures/deliveries.ts';

export interface Order {
  readonly orderId: string;
}

/** Called at each try; what it needs of the stage is given to it. */
export type StageHandler = (context: HandlerContext, stage: Stage) => Promise<unknown>;

export interface StageOptions {
  readonly handle?: StageHandler;
  readonly policy?: Partial<RetryPolicy>;
  readonly validate?: (value: unknown) => Validation<Order>;
  readonly eventId?: (event: Order, delivery: Delivery) => string;
  readonly fingerprint?: (event: Order) => string;
  readonly onDuplicate?: NonNullable<EventConsumer<Order>['onDuplicate']>;
  readonly faults?: {
    readonly claim?: Faults;
    readonly record?: Faults;
    readonly send?: Faults;
    readonly settle?: Faults;
    readonly renew?: Faults;
  };
  /** What the process may use, in ms from the host's call. */
  readonly budgetInMs?: number;
  readonly maxMessageInBytes?: number;
}

/** The pipeline among fakes. */
export interface Stage {
  readonly clock: VirtualClock;
  readonly journal: Journal;
  readonly ledger: InMemoryLedger;
  readonly sender: FakeSender;
  readonly settlement: FakeSettlement;
  readonly telemetry: FakeTelemetry;
  /** Tells the process to stop. */
  readonly stop: AbortController;
  /** Moves the store's clock alone: leases end early. */
  jumpStoreClock(byInMs: number): void;
  deliver(delivery?: Delivery, invocation?: Partial<Invocation>): Promise<Report>;
  /** The event's record. */
  record(): LedgerRecord | undefined;
}

export const KEY: EventKey = { consumer: CONSUMER, eventId: 'A' };
/** How long the host lets a delivery take, where a test says nothing else. */
export const BUDGET_IN_MS = 60_000;

/** Sets the stage at {@link ENQUEUED_UTC}. When the test ends, nothing on it may be waiting. */
export function aStage(options: StageOptions = {}): Stage {
  const clock = virtualClock(ENQUEUED_UTC);
  const steps = journal(clock);
  const faults = { claim: none, record: none, send: none, settle: none, renew: none, ...options.faults };
  let storeAheadInMs = 0;
  const ledger = inMemoryLedger({ nowUtc: () => clock.nowUtc() + storeAheadInMs });
  const sender = fakeSender(steps, faults.send);
  const settlement = fakeSettlement(steps, faults.settle, faults.renew);
  const telemetry = fakeTelemetry();
  const ports = {
    clock,
    ledger: faultyLedger(ledger, steps, faults.claim, faults.record),
    sender: options.maxMessageInBytes ? { ...sender, maxMessageInBytes: options.maxMessageInBytes } : sender,
    settlement,
    telemetry,
    processWide: processWide(clock),
  };
  const stop = new AbortController();
  const stage: Stage = {
    clock,
    journal: steps,
    ledger,
    sender,
    settlement,
    telemetry,
    stop,
    jumpStoreClock(byInMs) {
      storeAheadInMs += byInMs;
    },
    deliver: (delivery = aDelivery(), invocation = {}) =>
      processDelivery(delivery, consumer, ports, {
        startedAtInMs: clock.monotonicInMs(),
        budgetInMs: options.budgetInMs ?? BUDGET_IN_MS,
        stopping: stop.signal,
        traceparent: undefined,
        log: () => {},
        ...invocation,
      }),
    record: () => ledger.recordOf(KEY),
  };
  const consumer: EventConsumer<Order> = {
    name: CONSUMER,
    policyName: 'order-placed',
    policy: aPolicy(options.policy),
    validate: options.validate ?? ((value) => ({ kind: 'valid', event: value as Order })),
    ...(options.eventId ? { eventId: options.eventId } : {}),
    ...(options.fingerprint ? { fingerprint: options.fingerprint } : {}),
    ...(options.onDuplicate ? { onDuplicate: options.onDuplicate } : {}),
    async handle(_event, context) {
      steps.write(`handle attempt ${context.attempt} try ${context.try}`);
      return options.handle?.(context, stage);
    },
  };
  onTestFinished(() => expect(clock.pending()).toBe(0));
  return stage;
}

/** The report of the first delivery that ended well at once, or what `changes` make of it. */
export const aReport = (changes: Partial<Report> = {}): Report => ({
  consumer: CONSUMER,
  eventId: 'A',
  messageId: 'A',
  sequenceNumber: '7',
  deliveryCount: 1,
  generation: 0,
  attempt: 1,
  maxAttempts: 4,
  tries: 1,
  outcome: 'succeeded',
  durationInMs: 0,
  ...changes,
});

/** A lock token that no other delivery of the test has. */
export const lockToken = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

/** Claims the event for a delivery elsewhere, as another instance would. */
export const claimElsewhere = (stage: Stage, leaseInMs = 30_000, attempt = 1) =>
  stage.ledger.claim(KEY, { generation: 0, attempt, origin: anOrigin(), owner: lockToken(99) }, leaseInMs, false);
