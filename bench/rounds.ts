/** One number a round for each of two contenders, measured in turn, so that what slows the machine slows both. */
export type Pair = { readonly first: number; readonly second: number };

/**
 * Measures both contenders in each round, until `rounds` are done or `limitInMs` has passed; at least one round is.
 * Who goes first changes from round to round.
 */
export async function inTurn(
  { rounds, limitInMs }: { rounds: number; limitInMs: number },
  first: () => Promise<number>,
  second: () => Promise<number>,
): Promise<Pair[]> {
  const start = performance.now();
  const pairs: Pair[] = [];
  while (pairs.length < rounds && (pairs.length === 0 || performance.now() - start < limitInMs)) {
    if (pairs.length % 2 === 0) {
      const one = await first();
      pairs.push({ first: one, second: await second() });
    } else {
      const two = await second();
      pairs.push({ first: await first(), second: two });
    }
  }
  return pairs;
}

/** The middle value: a round that was disturbed does not move it. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}

/** How long `work` takes, in milliseconds. */
export async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
