import { clockSkewInMs } from '../rules/clock-skew.ts';
import { repeatedDeadLetterOf } from '../rules/dead-letter.ts';
import { decide } from '../rules/decide.ts';
import { busyDelayInMs, storeDownDelayInMs } from '../rules/deferral-delay.ts';
import type { Delivery } from '../rules/delivery.ts';
import { lifeOf, readEnvelope } from '../rules/envelope.ts';
import type { Failure } from '../rules/failure.ts';
import { conflictFailure } from '../rules/fingerprint.ts';
import { SETTLE_MARGIN_IN_MS } from '../rules/policy.ts';
import { claimEvent } from './claim-event.ts';
import { deadLetter, deadLetterUnclaimed, settleDeadLetter } from './dead-letter-delivery.ts';
import { defer } from './defer.ts';
import type { EventConsumer, Invocation, Ports } from './event-consumer.ts';
import { type Parsed, parse } from './parse.ts';
import { complete, type End, left, type Passage, record, release, timesOf } from './passage.ts';
import type { Hold, Report } from './ports.ts';
import { redeliver, sendAgain } from './redeliver.ts';
import { handToDuplicate, resultAsJson } from './result.ts';
import { type AttemptEnd, runAttempt } from './run-attempt.ts';
import type { Turn } from './solitude.ts';
import { turnAlone, turnOf } from './turn.ts';

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
  const { clock, telemetry } = ports;
  const skewInMs = clockSkewInMs(delivery.enqueuedUtc, ports.ledger.serverNowUtc?.(), clock.nowUtc());
  const parsed = parse(delivery, consumer, ports.inflate);
  const ownEventId = parsed.kind === 'event' ? parsed.eventId : undefined;
  const envelope = readEnvelope(delivery, consumer.name, ownEventId);
  const { eventId } = envelope;
  for (const doubt of envelope.doubts) telemetry.log('warning', `property: ${doubt}`, { eventId });

  const brokerNowUtc = () => clock.nowUtc() + skewInMs;
  const { generation, attempt, end } = await pass(
    { delivery, envelope, consumer, ports, invocation, brokerNowUtc },
    parsed,
  );
  const report: Report = {
    consumer: consumer.name,
    eventId,
    messageId: delivery.messageId,
    sequenceNumber: delivery.sequenceNumber,
    deliveryCount: delivery.deliveryCount,
    generation,
    attempt,
    maxAttempts: consumer.policy.attempts,
    tries: 0,
    durationInMs: Math.round(clock.monotonicInMs() - invocation.startedAtInMs),
    ...end,
  };
  telemetry.processed(report);
  return report;
}

interface Passed {
  readonly generation: number;
  readonly attempt: number;
  readonly end: End;
}

/** All steps from the claim on, in a place among those who are at work: what has no record yet must not die with a suspect. */
async function pass<Event>(passage: Passage<Event>, parsed: Parsed<Event>): Promise<Passed> {
  const { generation, attempt } = passage.envelope;
  if (passage.invocation.stopping.aborted) return { generation, attempt, end: left('stopping') };
  const turn = await turnOf(passage);
  return 'leave' in turn ? inTurn(passage, parsed, turn) : { generation, attempt, end: turn };
}

async function inTurn<Event>(passage: Passage<Event>, parsed: Parsed<Event>, turn: Turn): Promise<Passed> {
  try {
    return await ask(passage, parsed, turn);
  } finally {
    turn.leave();
  }
}

/** What the ledger says to it, and then that. */
async function ask<Event>(passage: Passage<Event>, parsed: Parsed<Event>, turn: Turn): Promise<Passed> {
  const { envelope, invocation } = passage;
  const { eventId, generation, attempt } = envelope;
  const unclaimed = (end: End): Passed => ({ generation, attempt, end });
  const claimed = ({ record }: Hold, end: End): Passed => ({
    generation: record.generation,
    attempt: record.attempt,
    end,
  });

  if (!(await lockIsHeld(passage))) return unclaimed(left('lock lost before the start'));

  const fingerprint = parsed.kind === 'event' ? parsed.fingerprint : undefined;
  const claim = await claimEvent(passage, fingerprint);
  switch (claim.kind) {
    case 'storeDown':
      if (invocation.stopping.aborted) return unclaimed(left('stopping'));
      return unclaimed(await defer(passage, storeDownDelayInMs(envelope), 'ledger down'));
    case 'busy':
      return unclaimed(
        await defer(passage, busyDelayInMs(envelope, claim.leaseEndsInMs, claim.isNext), 'busy elsewhere'),
      );
    case 'duplicate':
      await handToDuplicate(passage, claim.result);
      return unclaimed(await complete(passage, { outcome: 'duplicate' }));
    case 'stale':
      return unclaimed(await complete(passage, { outcome: 'stale' }));
    case 'conflict':
      return unclaimed(await deadLetterUnclaimed(passage, conflictFailure(eventId, claim.fingerprint, fingerprint)));
    case 'repeatDeadLetter': {
      const { reason, description, hold } = claim;
      const letter = repeatedDeadLetterOf(envelope, { reason, description }, hold.record.generation);
      return claimed(hold, await settleDeadLetter(passage, letter, hold));
    }
    case 'sendAgain':
      return claimed(claim.hold, await sendAgain(passage, claim));
    case 'run': {
      const ended = await run(passage, parsed, claim, turn);
      // A suspect has its turn now; the event may have gone on while it waited, so the ledger is asked anew.
      return 'leave' in ended ? inTurn(passage, parsed, ended) : claimed(claim.hold, ended);
    }
  }
}

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

/** A claim that says to run, and until when its lease surely lasts. */
type ToRun = { readonly hold: Hold; readonly leaseEndsAtInMs: number };

/**
 * The event is ours: run it, unless its history or its body already says how it ends.
 *
 * @returns how it ended; or its turn, where a suspect had to wait until it is alone
 */
async function run<Event>(
  passage: Passage<Event>,
  parsed: Parsed<Event>,
  toRun: ToRun,
  turn: Turn,
): Promise<End | Turn> {
  const { delivery, consumer } = passage;
  const { hold } = toRun;
  const { attempts, crashLimit, maxDeliveryCount } = consumer.policy;
  const { attempt, takeovers } = hold.record;
  const end = (reason: string, message: string) => deadLetter(passage, { reason, code: reason, message }, hold);

  if (attempt > attempts) return end('AttemptsExhausted', `the policy permits ${attempts} attempts now`);
  if (takeovers >= crashLimit) return end('PoisonMessage', `${takeovers} runs ended without an outcome`);
  if (delivery.deliveryCount >= maxDeliveryCount) {
    return end('DeliveriesExhausted', `delivery ${delivery.deliveryCount} of ${maxDeliveryCount} is the last`);
  }
  if (parsed.kind === 'unreadable') return settleFailure(passage, parsed.failure, hold);

  if (takeovers > 0) {
    if (!turn.stayAlone()) return turnAlone(passage, hold, turn);
    const { eventId } = passage.envelope;
    passage.ports.telemetry.log('warning', `takes over: runs without an outcome so far: ${takeovers}`, { eventId });
  }
  return runHandler(passage, parsed.event, toRun);
}

/** One attempt, among others or alone, within what is left of the lease just before it starts. */
async function runHandler<Event>(
  passage: Passage<Event>,
  event: Event,
  { hold, leaseEndsAtInMs }: ToRun,
): Promise<End> {
  const { delivery, consumer, envelope, ports, invocation } = passage;
  const { attempt, generation } = hold.record;
  const roomInMs = () => Math.floor(leaseEndsAtInMs - ports.clock.monotonicInMs()) - 2 * SETTLE_MARGIN_IN_MS;

  const timeoutInMs = Math.min(timesOf(passage).timeoutInMs, roomInMs());
  if (timeoutInMs <= 0) return release(passage, hold, left('no time left to run'));
  const graceInMs = SETTLE_MARGIN_IN_MS;
  const { eventId, edit } = envelope;
  const work = { event, delivery, eventId, edit, generation, attempt, timeoutInMs, graceInMs };
  const ended = await runAttempt(consumer, ports, invocation, work);
  return { ...(await afterRun(passage, ended, hold)), tries: ended.tries };
}

async function afterRun<Event>(passage: Passage<Event>, ended: AttemptEnd, hold: Hold): Promise<End> {
  switch (ended.kind) {
    case 'succeeded': {
      const result = resultAsJson(passage, ended.result);
      const { kind } = await record(passage, hold, { kind: 'completed', result });
      if (kind === 'recorded') return complete(passage, { outcome: 'succeeded' });
      const { eventId } = passage.envelope;
      passage.ports.telemetry.log('error', 'effect_unrecorded: the handler succeeded, its record did not', { eventId });
      return left(`effect unrecorded: ${kind}`);
    }
    case 'stopped':
      return release(passage, hold, { outcome: 'released', reason: 'stopping' });
    case 'unknown':
      return { ...left('the handler ignored its signal'), stillRuns: true };
    case 'failed':
      return settleFailure(passage, ended.failure, hold);
  }
}

/** The one way of a failure: decided, then a redelivery or a dead letter. */
async function settleFailure<Event>(passage: Passage<Event>, failure: Failure, hold: Hold): Promise<End> {
  const { envelope, delivery, consumer } = passage;
  const { attempt, generation } = hold.record;
  const { deadlineUtc } = lifeOf(envelope, generation, consumer.policy.windowInMs);
  const standing = { eventId: envelope.eventId, attempt, deadlineUtc, expiresUtc: delivery.expiresUtc };
  const decision = decide(standing, failure, consumer.policy, passage.brokerNowUtc());
  return decision.kind === 'deadLetter'
    ? deadLetter(passage, decision.failure, hold)
    : redeliver(passage, decision, hold, attempt);
}
