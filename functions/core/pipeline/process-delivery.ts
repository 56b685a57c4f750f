import type { DeadLetter, LastFailure } from '../rules/dead-letter.ts';
import { deadLetterOf } from '../rules/dead-letter.ts';
import { decide } from '../rules/decide.ts';
import type { Delivery } from '../rules/delivery.ts';
import { type Envelope, readEnvelope } from '../rules/envelope.ts';
import { deadlineOf, inGeneration } from '../rules/generation.ts';
import { fraction } from '../rules/hash.ts';
import { SETTLE_MARGIN_IN_MS } from '../rules/policy.ts';
import { deferralOf, type Lineage, redeliveryOf } from '../rules/redelivery.ts';
import type { EventConsumer, Invocation, Ports } from './event-consumer.ts';
import { type Parsed, parse } from './parse.ts';
import type { Claim, Entry, Hold, Report } from './ports.ts';
import { type AttemptEnd, runAttempt } from './run-attempt.ts';
import { whileLockHolds } from './while-lock-holds.ts';

/** How a delivery ended, as far as the steps know it; the rest of the report is the same for all. */
type End = Pick<Report, 'outcome' | 'reason' | 'description' | 'delayInMs'> & { readonly tries?: number };

/** One delivery on its way through the steps. */
interface Passage<Event> {
  readonly delivery: Delivery;
  /** As the generation counts that the ledger found, once it has answered. */
  readonly envelope: Envelope;
  readonly consumer: EventConsumer<Event>;
  readonly ports: Ports;
  readonly invocation: Invocation;
}

/**
 * Processes one delivery, top to bottom: guard, parse, claim, run, decide; then schedule, record, settle, always in this
 * order. A crash in between repeats the later steps, which identity and the ledger absorb; any other order loses the
 * event or doubles the effect. Settles at most once; when in doubt it settles nothing and the lock ends by itself.
 */
export async function processDelivery<Event>(
  delivery: Delivery,
  consumer: EventConsumer<Event>,
  ports: Ports,
  invocation: Invocation,
): Promise<Report> {
  const parsed = parse(delivery, consumer);
  const eventId = parsed.kind === 'event' ? consumer.eventId?.(parsed.event, delivery) : undefined;
  const envelope = readEnvelope(delivery, consumer.name, eventId);
  for (const doubt of envelope.doubts)
    ports.telemetry.log('warning', `property not believed: ${doubt}`, { eventId: envelope.eventId });

  const passage: Passage<Event> = { delivery, envelope, consumer, ports, invocation };
  const { generation, attempt, end } = await pass(passage, parsed);
  const report: Report = {
    consumer: consumer.name,
    eventId: envelope.eventId,
    messageId: delivery.messageId,
    sequenceNumber: delivery.sequenceNumber,
    deliveryCount: delivery.deliveryCount,
    generation,
    attempt,
    maxAttempts: consumer.policy.attempts,
    tries: 0,
    durationInMs: Math.round(ports.clock.monotonicInMs() - invocation.startedAtInMs),
    ...end,
  };
  ports.telemetry.processed(report);
  return report;
}

/** The steps up to the ledger's answer. */
async function pass<Event>(
  passage: Passage<Event>,
  parsed: Parsed<Event>,
): Promise<{ generation: number; attempt: number; end: End }> {
  const { envelope, invocation } = passage;
  const unclaimed = async (end: Promise<End>) => ({
    generation: envelope.generation,
    attempt: envelope.attempt,
    end: await end,
  });
  if (invocation.stopping.aborted) return unclaimed(left('stopping'));
  if (!(await lockIsHeld(passage))) return unclaimed(left('lock lost before the start'));

  const claim = await claimEvent(passage);
  switch (claim.kind) {
    case 'storeDown':
      return unclaimed(claim.stopping ? left('stopping') : defer(passage, storeDownDelayInMs(envelope), 'ledger down'));
    case 'busy':
      return unclaimed(defer(passage, busyDelayInMs(claim, envelope), 'busy elsewhere'));
    case 'duplicate':
    case 'stale':
      return unclaimed(complete(passage, { outcome: claim.kind }));
    case 'repeatDeadLetter': {
      const { reason, description, hold } = claim;
      return claimed(hold, deadLetterNow(passage, { reason, description, properties: new Map() }, hold));
    }
    case 'sendAgain':
      return claimed(claim.hold, sendAgain(inGenerationOf(passage, claim.hold), claim));
    case 'run':
      return claimed(claim.hold, run(inGenerationOf(passage, claim.hold), parsed, claim.hold));
  }
}

const claimed = async ({ record }: Hold, end: Promise<End>) => ({
  generation: record.generation,
  attempt: record.attempt,
  end: await end,
});

const inGenerationOf = <Event>(passage: Passage<Event>, { record }: Hold): Passage<Event> => ({
  ...passage,
  envelope: inGeneration(passage.envelope, record.generation),
});

const left = async (reason: string): Promise<End> => ({ outcome: 'left', reason });

/**
 * Whether the lock is still ours. Its end was written by another clock: where it looks past, the broker is asked by
 * renewing.
 */
async function lockIsHeld<Event>({ delivery, ports }: Passage<Event>): Promise<boolean> {
  if (delivery.lockedUntilUtc === undefined || delivery.lockedUntilUtc > ports.clock.nowUtc()) return true;
  try {
    await ports.settlement.renewLock(delivery);
    return true;
  } catch {
    return false;
  }
}

/** Handler time for this delivery, and the lease that covers it: deadline, grace for a slow end, time to settle. */
function timesOf<Event>({ consumer, ports, invocation }: Passage<Event>) {
  const usedInMs = ports.clock.monotonicInMs() - invocation.startedAtInMs;
  const timeoutInMs = Math.min(
    consumer.policy.handlerTimeoutInMs,
    invocation.budgetInMs - usedInMs - SETTLE_MARGIN_IN_MS,
  );
  return { timeoutInMs, graceInMs: SETTLE_MARGIN_IN_MS, leaseInMs: timeoutInMs + 2 * SETTLE_MARGIN_IN_MS };
}

/** Asks the ledger, in place, for as long as the lock can be held and leaves time for the handler or a deferral. */
async function claimEvent<Event>(passage: Passage<Event>): Promise<Claim | { kind: 'storeDown'; stopping: boolean }> {
  const { consumer, delivery, envelope, ports, invocation } = passage;
  const claimant = {
    generation: envelope.generation,
    attempt: envelope.attempt,
    origin: envelope.origin,
    owner: delivery.lockToken,
  };
  const mayExist = envelope.attempt > 1 || envelope.deferrals > 0 || delivery.deliveryCount > 1;
  const key = { consumer: consumer.name, eventId: envelope.eventId };
  const claim = await whileLockHolds(ports, invocation, () =>
    ports.ledger.claim(key, claimant, timesOf(passage).leaseInMs, mayExist),
  );
  return claim.kind === 'done' ? claim.value : { kind: 'storeDown', stopping: invocation.stopping.aborted };
}

/** The event is ours: run it, unless its history or its body already says how it ends. */
async function run<Event>(passage: Passage<Event>, parsed: Parsed<Event>, hold: Hold): Promise<End> {
  const { delivery, consumer, envelope, ports, invocation } = passage;
  const { policy } = consumer;
  const { attempt, takeovers } = hold.record;
  const verdict = (reason: string, message: string) => deadLetter(passage, { reason, code: reason, message }, hold);

  if (attempt > policy.attempts)
    return verdict('AttemptsExhausted', `the policy permits ${policy.attempts} attempts now`);
  if (takeovers >= policy.crashLimit) return verdict('PoisonMessage', `${takeovers} runs ended without an outcome`);
  if (delivery.deliveryCount >= policy.maxDeliveryCount) {
    return verdict(
      'DeliveriesExhausted',
      `delivery ${delivery.deliveryCount} of ${policy.maxDeliveryCount} is the last`,
    );
  }
  if (parsed.kind === 'unreadable') return settleFailure(passage, parsed, 0, hold);

  const times = timesOf(passage);
  if (times.timeoutInMs <= 0) return release(passage, hold, { outcome: 'left', reason: 'no time left to run' });
  const ended = await runAttempt(consumer, ports, invocation, {
    event: parsed.event,
    envelope,
    delivery,
    attempt,
    ...times,
  });
  return afterRun(passage, ended, hold);
}

async function afterRun<Event>(passage: Passage<Event>, ended: AttemptEnd, hold: Hold): Promise<End> {
  const { tries } = ended;
  switch (ended.kind) {
    case 'succeeded': {
      const recorded = await record(passage, hold, { kind: 'completed' });
      if (recorded.kind === 'recorded') return complete(passage, { outcome: 'succeeded', tries });
      passage.ports.telemetry.log('error', 'effect_unrecorded: the handler succeeded, its record did not', {
        eventId: passage.envelope.eventId,
        why: recorded.kind,
      });
      return { outcome: 'left', reason: `effect unrecorded: ${recorded.kind}`, tries };
    }
    case 'stopped':
      return release(passage, hold, { outcome: 'released', reason: 'stopping', tries });
    case 'unknown':
      return { outcome: 'left', reason: 'the handler ignored its signal and still runs', tries };
    case 'failed':
      return settleFailure(passage, ended, tries, hold);
  }
}

/** The one way of a failure: decided, then a redelivery or a dead letter. */
async function settleFailure<Event>(
  passage: Passage<Event>,
  { failure }: Extract<AttemptEnd, { kind: 'failed' }> | Extract<Parsed<Event>, { kind: 'unreadable' }>,
  tries: number,
  hold: Hold,
): Promise<End> {
  const { envelope, delivery, consumer, ports } = passage;
  const { attempt } = hold.record;
  const deadlineUtc = deadlineOf(envelope, consumer.policy.windowInMs);
  const standing = { eventId: envelope.eventId, attempt, deadlineUtc, expiresUtc: delivery.expiresUtc };
  const decision = decide(standing, failure, consumer.policy, ports.clock.nowUtc());
  const end =
    decision.kind === 'deadLetter'
      ? await deadLetter(passage, decision.failure, hold)
      : await redeliver(passage, decision, hold);
  return { ...end, tries };
}

function lineageOf<Event>({ consumer, envelope }: Passage<Event>, attempt: number): Lineage {
  const { name, policyName, policy } = consumer;
  const { generation } = envelope;
  return { consumer: name, policyName, generation, attempt, deadlineUtc: deadlineOf(envelope, policy.windowInMs) };
}

/** Schedule, record, settle. */
async function redeliver<Event>(
  passage: Passage<Event>,
  plan: { dueUtc: number; delayInMs: number; failure: LastFailure },
  hold: Hold,
): Promise<End> {
  const { delivery, envelope, ports, invocation } = passage;
  const { attempt } = hold.record;
  const { dueUtc, delayInMs, failure } = plan;
  const lineage = lineageOf(passage, attempt);
  const copy = redeliveryOf(delivery, envelope, lineage, plan, ports.clock.nowUtc(), invocation.traceparent);
  const sent = await whileLockHolds(ports, invocation, () => ports.sender.send(delivery, copy));
  if (sent.kind === 'failed') {
    if (sent.code === 'tooLarge') return deadLetter(passage, { ...failure, reason: 'MessageTooLarge' }, hold);
    const { code, message } = failure;
    await record(passage, hold, { kind: 'unsent', attempt: attempt + 1, copy: { dueUtc, code, message } });
    return { outcome: 'left', reason: `copy unsent: ${sent.message}` };
  }
  const recorded = await record(passage, hold, { kind: 'scheduled', attempt: attempt + 1, dueUtc });
  if (recorded.kind !== 'recorded') return { outcome: 'left', reason: `copy sent, not recorded: ${recorded.kind}` };
  return complete(passage, { outcome: 'redelivered', reason: failure.code, description: failure.message, delayInMs });
}

/** The copy of an earlier delivery could not be sent: send it now; the handler does not run again. */
async function sendAgain<Event>(
  passage: Passage<Event>,
  { attempt, unsent, hold }: Extract<Claim, { kind: 'sendAgain' }>,
): Promise<End> {
  const nowUtc = passage.ports.clock.nowUtc();
  const dueUtc = Math.max(unsent.dueUtc, nowUtc);
  const failure = { reason: unsent.code, code: unsent.code, message: unsent.message };
  const failed: Hold = { ...hold, record: { ...hold.record, attempt: attempt - 1 } };
  return redeliver(passage, { dueUtc, delayInMs: dueUtc - nowUtc, failure }, failed);
}

async function deadLetter<Event>(passage: Passage<Event>, failure: LastFailure, hold: Hold): Promise<End> {
  const { envelope, consumer, ports } = passage;
  const { attempt, generation } = hold.record;
  const place = { attempt, maxAttempts: consumer.policy.attempts, generation };
  const letter = deadLetterOf(envelope, failure, place, ports.clock.nowUtc());
  const { reason, description } = letter;
  const recorded = await record(passage, hold, {
    kind: 'deadLettering',
    messageId: passage.delivery.messageId,
    reason,
    description,
  });
  if (recorded.kind === 'leaseLost') return { outcome: 'left', reason: 'lease lost' };
  // A dead letter may go without its record: in the queue it is seen, and a replay runs it.
  return deadLetterNow(passage, letter, recorded.kind === 'recorded' ? recorded.hold : undefined);
}

/** Settles, then confirms: with one phase an early lock expiry would lose the event. */
async function deadLetterNow<Event>(passage: Passage<Event>, letter: DeadLetter, hold: Hold | undefined): Promise<End> {
  const { delivery, ports } = passage;
  const { reason, description } = letter;
  const settled = await settle(passage, () => ports.settlement.deadLetter(delivery, letter));
  if (settled && hold) await record(passage, hold, { kind: 'deadLettered' });
  return settled ? { outcome: 'dead-lettered', reason, description } : { outcome: 'left', reason: 'not dead-lettered' };
}

/** Gives the event back: claimable at once, not counted as a run that crashed. */
async function release<Event>(passage: Passage<Event>, hold: Hold, end: End): Promise<End> {
  await record(passage, hold, { kind: 'released' });
  await settle(passage, () => passage.ports.settlement.abandon(passage.delivery));
  return end;
}

/** Puts the delivery off by a copy that uses no attempt; at the limit, or where that fails, to the end of its lock. */
async function defer<Event>(passage: Passage<Event>, delayInMs: number, reason: string): Promise<End> {
  const { delivery, envelope, consumer, ports, invocation } = passage;
  if (envelope.deferrals >= consumer.policy.deferralLimit) return left(`${reason}, deferral limit reached`);
  const dueUtc = ports.clock.nowUtc() + delayInMs;
  const copy = deferralOf(delivery, envelope, lineageOf(passage, envelope.attempt), dueUtc, invocation.traceparent);
  const sent = await whileLockHolds(ports, invocation, () => ports.sender.send(delivery, copy));
  if (sent.kind === 'failed') return left(`${reason}, deferral unsent: ${sent.message}`);
  return complete(passage, { outcome: 'deferred', reason, delayInMs });
}

const SECOND = 1_000;
const STORE_DOWN_BASE_IN_MS = 5 * SECOND;
const STORE_DOWN_CAP_IN_MS = 300 * SECOND;

/** The holder's own next attempt comes back soon, then ever later; anything else after the holder's lease, spread. */
function busyDelayInMs(claim: { leaseEndsInMs: number; isNext: boolean }, envelope: Envelope): number {
  const untilLeaseEnds = Math.max(SECOND, claim.leaseEndsInMs);
  if (claim.isNext) return Math.min(SECOND * 2 ** Math.min(envelope.deferrals, 30), untilLeaseEnds);
  return Math.round(untilLeaseEnds + 2 * SECOND * fraction('busy', envelope.eventId, envelope.origin.sequenceNumber));
}

function storeDownDelayInMs(envelope: Envelope): number {
  const delay = Math.min(STORE_DOWN_BASE_IN_MS * 2 ** Math.min(envelope.deferrals, 30), STORE_DOWN_CAP_IN_MS);
  const chance = fraction('store down', envelope.eventId, envelope.deferrals, envelope.origin.sequenceNumber);
  return Math.round(delay / 2 + (delay / 2) * chance);
}

async function complete<Event>(passage: Passage<Event>, end: End): Promise<End> {
  await settle(passage, () => passage.ports.settlement.complete(passage.delivery));
  return end;
}

/** A settlement that fails is logged and left: the next delivery finds the record and finishes. */
async function settle<Event>({ envelope, ports }: Passage<Event>, call: () => Promise<void>): Promise<boolean> {
  try {
    await call();
    return true;
  } catch (error) {
    ports.telemetry.log('warning', `settlement failed, left to the next delivery: ${String(error)}`, {
      eventId: envelope.eventId,
    });
    return false;
  }
}

/** Writes under the hold, again while the lock can be held. */
async function record<Event>(
  { envelope, ports, invocation }: Passage<Event>,
  hold: Hold,
  entry: Entry,
): Promise<{ kind: 'recorded'; hold: Hold } | { kind: 'leaseLost' } | { kind: 'storeDown' }> {
  const written = await whileLockHolds(ports, invocation, () => ports.ledger.record(hold, entry));
  const result = written.kind === 'done' ? written.value : ({ kind: 'storeDown' } as const);
  if (result.kind !== 'recorded') {
    ports.telemetry.log('warning', `${entry.kind} not recorded: ${result.kind}`, { eventId: envelope.eventId });
  }
  return result;
}
