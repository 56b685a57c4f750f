import { type DeadLetter, deadLetterOf, type LastFailure } from '../rules/dead-letter.ts';
import { fitDeadLetter } from '../rules/room.ts';
import { type End, left, type Passage, record, settle } from './passage.ts';
import type { Hold } from './ports.ts';

/** Records the dead letter, settles it, confirms it: with one phase an early lock expiry would lose the event. */
export async function deadLetter<Event>(passage: Passage<Event>, failure: LastFailure, hold: Hold): Promise<End> {
  const { attempt, generation } = hold.record;
  const letter = letterOf(passage, failure, attempt, generation);
  const { reason, description } = letter;
  const { messageId } = passage.delivery;
  const recorded = await record(passage, hold, { kind: 'deadLettering', messageId, reason, description });
  if (recorded.kind === 'leaseLost') return left('lease lost');
  // A dead letter may go without its record: in the queue it is seen, and a replay runs it.
  return settleDeadLetter(passage, letter, recorded.kind === 'recorded' ? recorded.hold : undefined);
}

/** Dead-letters a delivery whose event's record is not its own, and stays as it is. */
export async function deadLetterUnclaimed<Event>(passage: Passage<Event>, failure: LastFailure): Promise<End> {
  const { attempt, generation } = passage.envelope;
  return settleDeadLetter(passage, letterOf(passage, failure, attempt, generation), undefined);
}

function letterOf<Event>(
  passage: Passage<Event>,
  failure: LastFailure,
  attempt: number,
  generation: number,
): DeadLetter {
  const { delivery, envelope, consumer } = passage;
  const place = { attempt, maxAttempts: consumer.policy.attempts, generation };
  return fitDeadLetter(delivery, deadLetterOf(envelope, failure, place, passage.brokerNowUtc()));
}

/** The second half: what an earlier delivery may have recorded and not settled. */
export async function settleDeadLetter<Event>(
  passage: Passage<Event>,
  letter: DeadLetter,
  hold: Hold | undefined,
): Promise<End> {
  const { reason, description } = letter;
  const { delivery } = passage;
  const settled = await settle(passage, () => passage.ports.settlement.deadLetter(delivery, letter));
  if (!settled) return left(`${reason} recorded, not dead-lettered`);
  if (hold) await record(passage, hold, { kind: 'deadLettered', messageId: delivery.messageId });
  return { outcome: 'dead-lettered', reason, description };
}
