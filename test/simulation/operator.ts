import type { StoredMessage } from '../../local/broker/model/stored-message.ts';
import { generationOf, replayContent, resentContent, simulated } from './message.ts';
import type { World } from './world.ts';

/** How a dead letter is brought back. */
export type Replay = 'by the tool' | 'by the tool, which dies in it' | 'by hand' | 'by hand, its marks stripped';

/** Brings a dead letter back, if it is still there. @returns whether it is gone from the dead letters */
export function replay(world: World, sequenceNumber: number, how: Replay): boolean {
  const { deadLetters, timeline } = world;
  const held: StoredMessage[] = [];
  let found: StoredMessage | undefined;
  for (let next = deadLetters.receive(); next; next = deadLetters.receive()) {
    if (next.message.sequenceNumber === sequenceNumber) found = next.message;
    else held.push(next.message);
  }
  for (const { lockToken } of held) deadLetters.settle(lockToken ?? '', { kind: 'release' });
  if (!found?.lockToken) return false;

  const { eventId, messageId } = simulated(found);
  if (world.isTraced) world.trace(`${messageId} (seq ${sequenceNumber}) is brought back ${how}`);
  const isTool = how === 'by the tool' || how === 'by the tool, which dies in it';
  const content = isTool
    ? replayContent(found, Math.max(generationOf(found), world.effects.generationOf(eventId)) + 1, timeline.nowUtc)
    : resentContent(found, how === 'by hand', timeline.nowUtc);
  const isAccepted = world.send(content);
  world.messages.broughtBack++;
  // A person who finds the message dropped as a duplicate keeps the dead letter; the tool knows that its copy is there.
  const isDone = how === 'by the tool' || (!isTool && isAccepted);
  deadLetters.settle(found.lockToken, { kind: isDone ? 'complete' : 'release' });
  return isDone;
}
