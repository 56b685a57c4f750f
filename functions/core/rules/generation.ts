import type { Envelope } from './envelope.ts';

/**
 * The envelope as it counts in the generation that the ledger found: a message brought back by hand says nothing of its
 * new life, which starts with a fresh retry window when that message was enqueued.
 */
export function inGeneration(envelope: Envelope, generation: number): Envelope {
  if (generation === envelope.generation) return envelope;
  return {
    ...envelope,
    generation,
    firstEnqueuedUtc: envelope.origin.enqueuedUtc,
    firstFailedUtc: undefined,
    deadlineUtc: undefined,
  };
}

/** End of the retry window: as fixed by an earlier copy of this generation, else counted from the first enqueue. */
export const deadlineOf = (envelope: Envelope, windowInMs: number): number =>
  envelope.deadlineUtc ?? envelope.firstEnqueuedUtc + windowInMs;
