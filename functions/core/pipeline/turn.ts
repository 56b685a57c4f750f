import { type End, left, type Passage, record, settle, timesOf } from './passage.ts';
import type { Hold } from './ports.ts';
import type { Turn } from './solitude.ts';

/**
 * Waits for a place among those who are at work. Before the claim, because a lease is for a run: where a suspect that
 * runs meanwhile ends the process, a lease of one that waits would lapse and count as a crash of its own.
 *
 * @returns how the delivery ended, where it waited too long and was given back
 */
export async function turnOf<Event>(passage: Passage<Event>): Promise<Turn | End> {
  const { patienceInMs } = timesOf(passage);
  const { ports, invocation } = passage;
  return (await ports.processWide.solitude.enter(false, patienceInMs, invocation.stopping)) ?? giveBack(passage);
}

/**
 * A suspect waits until it is alone, and without its claim: see {@link turnOf}. Only then does it leave its place, so
 * that no other suspect runs while it has a lease.
 */
export async function turnAlone<Event>(passage: Passage<Event>, hold: Hold, turn: Turn): Promise<Turn | End> {
  const { ports, invocation } = passage;
  const unrecorded = new AbortController();
  const signal = AbortSignal.any([invocation.stopping, unrecorded.signal]);
  // From now on, and not from the end of the write, it goes before others.
  const waiting = ports.processWide.solitude.enter(true, timesOf(passage).patienceInMs, signal);
  const { kind } = await record(passage, hold, { kind: 'released' });
  turn.leave();
  if (kind === 'recorded') return (await waiting) ?? giveBack(passage);
  unrecorded.abort();
  (await waiting)?.leave();
  return left(`no turn to run: ${kind}`);
}

async function giveBack<Event>(passage: Passage<Event>): Promise<End> {
  await settle(passage, () => passage.ports.settlement.abandon(passage.delivery));
  return left('no turn to run');
}
