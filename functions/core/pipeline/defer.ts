import { deferralOf } from '../rules/redelivery.ts';
import { fitCopy } from '../rules/room.ts';
import { complete, type End, left, lineageOf, type Passage } from './passage.ts';
import { whileLockHolds } from './while-lock-holds.ts';

/**
 * Puts the delivery off by a copy that uses no attempt and keeps the place that the message gives itself; at the
 * policy's limit, or where the copy cannot be sent, the delivery is left to its lock instead.
 */
export async function defer<Event>(passage: Passage<Event>, delayInMs: number, reason: string): Promise<End> {
  const { delivery, envelope, consumer, ports, invocation } = passage;
  if (envelope.deferrals >= consumer.policy.deferralLimit) return left(`${reason}, deferral limit reached`);
  const lineage = lineageOf(passage, envelope.generation, envelope.attempt);
  const dueUtc = passage.brokerNowUtc() + delayInMs;
  const copy = deferralOf(delivery, envelope, lineage, dueUtc, invocation.traceparent);
  const fit = fitCopy(delivery, copy, ports.sender.maxMessageInBytes);
  if (fit.kind === 'tooLarge') return left(`${reason}, ${fit.failure.message}`);
  const { sendOutage } = ports.processWide;
  const sent = await whileLockHolds(ports, invocation, sendOutage, () => ports.sender.send(delivery, fit.copy));
  if (sent.kind === 'failed') return left(`${reason}, deferral unsent: ${sent.message}`);
  return complete(passage, { outcome: 'deferred', reason, delayInMs });
}
