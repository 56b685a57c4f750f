import type { LastFailure } from '../rules/dead-letter.ts';
import { redeliveryOf } from '../rules/redelivery.ts';
import { deadLetter } from './dead-letter-delivery.ts';
import { complete, type End, left, lineageOf, type Passage, record } from './passage.ts';
import type { Claim, Hold } from './ports.ts';
import { sendCopy } from './send-copy.ts';

/** When the next attempt is due, and why there is one. */
export interface RedeliveryPlan {
  readonly dueUtc: number;
  readonly delayInMs: number;
  readonly failure: LastFailure;
}

/**
 * Schedules the copy, records it, completes the original. Send before complete: a crash between repeats the send, which
 * the copy's identity absorbs; the reverse loses the event.
 *
 * @param attempt the one that has failed
 */
export async function redeliver<Event>(
  passage: Passage<Event>,
  plan: RedeliveryPlan,
  hold: Hold,
  attempt: number,
): Promise<End> {
  const { delivery, envelope, invocation } = passage;
  const { dueUtc, delayInMs, failure } = plan;
  const lineage = lineageOf(passage, hold.record.generation, attempt);
  const copy = redeliveryOf(delivery, envelope, lineage, plan, passage.brokerNowUtc(), invocation.traceparent);
  const sent = await sendCopy(passage, copy);
  if (sent.kind === 'noRoom') return deadLetter(passage, sent.failure, hold);
  const next = attempt + 1;
  if (sent.kind === 'failed') {
    const { code, message } = failure;
    if (sent.code === 'tooLarge') return deadLetter(passage, { ...failure, reason: 'MessageTooLarge' }, hold);
    if (sent.code === 'refused') {
      return deadLetter(passage, { reason: 'CopyRefused', code, message: `${message}; ${sent.message}` }, hold);
    }
    // Left to its lock, the last delivery would be dead-lettered by the broker, which gives no reason of ours.
    if (delivery.deliveryCount >= passage.consumer.policy.maxDeliveryCount) {
      return deadLetter(passage, { reason: 'DeliveriesExhausted', code, message: `${message}; ${sent.message}` }, hold);
    }
    await record(passage, hold, { kind: 'unsent', attempt: next, copy: { dueUtc, code, message } });
    return left(`copy unsent: ${sent.message}`);
  }
  const recorded = await record(passage, hold, { kind: 'scheduled', attempt: next, dueUtc });
  if (recorded.kind !== 'recorded') return left(`copy sent, not recorded: ${recorded.kind}`);
  return complete(passage, { outcome: 'redelivered', reason: failure.code, description: failure.message, delayInMs });
}

/** The copy of an earlier delivery could not be sent: send it now; the handler does not run again. */
export async function sendAgain<Event>(
  passage: Passage<Event>,
  { attempt, unsent, hold }: Extract<Claim, { kind: 'sendAgain' }>,
): Promise<End> {
  const nowUtc = passage.brokerNowUtc();
  const dueUtc = Math.max(unsent.dueUtc, nowUtc);
  const { code, message } = unsent;
  const plan = { dueUtc, delayInMs: dueUtc - nowUtc, failure: { reason: code, code, message } };
  return redeliver(passage, plan, hold, attempt - 1);
}
