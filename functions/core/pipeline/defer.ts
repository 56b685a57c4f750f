import { deferralOf } from '../rules/redelivery.ts';
import { complete, type End, left, lineageOf, type Passage } from './passage.ts';
import { sendCopy } from './send-copy.ts';

/**
 * Puts the delivery off by a copy that uses no attempt and keeps the place that the message gives itself; at the
 * policy's limit, or where the copy cannot be sent, the delivery is left to its lock instead.
 */
export async function defer<Event>(passage: Passage<Event>, delayInMs: number, reason: string): Promise<End> {
  const { delivery, envelope, consumer, invocation } = passage;
  if (envelope.deferrals >= consumer.policy.deferralLimit) return left(`${reason}, deferral limit reached`);
  const lineage = lineageOf(passage, envelope.generation, envelope.attempt);
  const dueUtc = passage.brokerNowUtc() + delayInMs;
  const copy = deferralOf(delivery, envelope, lineage, dueUtc, invocation.traceparent);
  const sent = await sendCopy(passage, copy);
  if (sent.kind === 'noRoom') return left(`${reason}, ${sent.failure.message}`);
  if (sent.kind === 'failed') return left(`${reason}, deferral unsent: ${sent.message}`);
  return complete(passage, { outcome: 'deferred', reason, delayInMs });
}
