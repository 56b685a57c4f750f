import type { Delivery } from '../rules/delivery.ts';
import { type Envelope, lifeOf } from '../rules/envelope.ts';
import { SETTLE_MARGIN_IN_MS } from '../rules/policy.ts';
import type { Lineage } from '../rules/redelivery.ts';
import type { EventConsumer, Invocation, Ports } from './event-consumer.ts';
import type { Entry, Hold, Report } from './ports.ts';
import { whileLockHolds } from './while-lock-holds.ts';

/** One delivery on its way through the steps. */
export interface Passage<Event> {
  readonly delivery: Delivery;
  readonly envelope: Envelope;
  readonly consumer: EventConsumer<Event>;
  readonly ports: Ports;
  readonly invocation: Invocation;
  /** The broker's clock, as far as it is known: delays, windows and times to live are the broker's to keep. */
  brokerNowUtc(): number;
}

/** How a delivery ended, as far as the steps know it; the rest of the report is the same for all. */
export type End = Pick<Report, 'outcome' | 'reason' | 'description' | 'delayInMs' | 'stillRuns'> & {
  readonly tries?: number;
};

/** Nothing is settled: the lock ends by itself, and the next delivery goes on. */
export const left = (reason: string): End => ({ outcome: 'left', reason });

/**
 * Handler time for this delivery, and the lease that covers it: deadline, grace for a slow end, time to settle. And how
 * long it may wait for its turn so that the handler has its time afterwards, or half of all where both do not fit.
 */
export function timesOf<Event>({ consumer, ports, invocation }: Passage<Event>): {
  readonly timeoutInMs: number;
  readonly leaseInMs: number;
  readonly patienceInMs: number;
} {
  const usedInMs = ports.clock.monotonicInMs() - invocation.startedAtInMs;
  const roomInMs = Math.floor(invocation.budgetInMs - usedInMs) - SETTLE_MARGIN_IN_MS;
  const timeoutInMs = Math.max(0, Math.min(consumer.policy.handlerTimeoutInMs, roomInMs));
  const patienceInMs = Math.max(roomInMs - consumer.policy.handlerTimeoutInMs, Math.floor(roomInMs / 2));
  return { timeoutInMs, leaseInMs: timeoutInMs + 2 * SETTLE_MARGIN_IN_MS, patienceInMs };
}

/** Who writes a copy in this generation and at this attempt. */
export function lineageOf<Event>({ consumer, envelope }: Passage<Event>, generation: number, attempt: number): Lineage {
  const { name, policyName, policy } = consumer;
  const { deadlineUtc } = lifeOf(envelope, generation, policy.windowInMs);
  return { consumer: name, policyName, generation, attempt, deadlineUtc };
}

/** Completes the delivery. Where that fails the end is the same: the next delivery finds the record and completes. */
export async function complete<Event>(passage: Passage<Event>, end: End): Promise<End> {
  await settle(passage, () => passage.ports.settlement.complete(passage.delivery));
  return end;
}

/** Gives the event back: claimable at once, not counted as a run that crashed. */
export async function release<Event>(passage: Passage<Event>, hold: Hold, end: End): Promise<End> {
  const { kind } = await record(passage, hold, { kind: 'released' });
  if (kind === 'leaseLost') return left('lease lost');
  await settle(passage, () => passage.ports.settlement.abandon(passage.delivery));
  return end;
}

/**
 * A settlement that fails is logged and left: the next delivery finds the record and finishes.
 *
 * @returns whether it succeeded
 */
export async function settle<Event>({ envelope, ports }: Passage<Event>, call: () => Promise<void>): Promise<boolean> {
  try {
    await call();
    return true;
  } catch (error) {
    const { eventId } = envelope;
    ports.telemetry.log('warning', `settlement failed, left to the next delivery: ${String(error)}`, { eventId });
    return false;
  }
}

/** Writes under the hold, again while the lock can be held. */
export async function record<Event>(
  { envelope, ports, invocation }: Passage<Event>,
  hold: Hold,
  entry: Entry,
): Promise<
  { readonly kind: 'recorded'; readonly hold: Hold } | { readonly kind: 'leaseLost' } | { readonly kind: 'storeDown' }
> {
  const written = await whileLockHolds(ports, invocation, ports.processWide.ledgerOutage, () =>
    ports.ledger.record(hold, entry),
  );
  const result = written.kind === 'done' ? written.value : ({ kind: 'storeDown' } as const);
  if (result.kind !== 'recorded') {
    ports.telemetry.log('warning', `${entry.kind} not recorded: ${result.kind}`, { eventId: envelope.eventId });
  }
  return result;
}
