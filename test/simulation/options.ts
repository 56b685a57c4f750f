import { parseArgs } from 'node:util';
import type { OutagePlan } from './outage.ts';

/** What a simulation is asked for on the command line. */
export type Options =
  | { readonly kind: 'lives'; readonly from: number; readonly count: number }
  | { readonly kind: 'trace'; readonly seed: number }
  | {
      readonly kind: 'outages';
      readonly targets: readonly OutagePlan['target'][];
      readonly minutes: number;
      readonly messagesPerSecond: number;
    }
  /** A line that says what was expected. */
  | { readonly kind: 'problem'; readonly problem: string };

export const USAGE = `Lives the lives of messages on a virtual clock, and says where a promise was broken.

  npm run simulate -- --seeds N [--seed S]     every crash and pair of crashes, then N random lives from seed S (1) on
  npm run simulate -- --seed S --trace         one random life, step by step
  npm run simulate -- --outage store|send|both [--minutes 60] [--rate 200]
                                               an outage of the store, of sending, or first of one and then of the other
`;

const MOST_SEEDS = 2 ** 31 - 1;

/** Reads the arguments; what cannot be read, or makes no sense together, is one problem. */
export function readOptions(args: readonly string[]): Options {
  const problem = (text: string): Options => ({ kind: 'problem', problem: text });
  let values: Record<string, string | boolean | undefined>;
  try {
    ({ values } = parseArgs({
      args: [...args],
      options: {
        seeds: { type: 'string' },
        seed: { type: 'string' },
        trace: { type: 'boolean' },
        outage: { type: 'string' },
        minutes: { type: 'string' },
        rate: { type: 'string' },
      },
    }));
  } catch (error) {
    return problem((error as Error).message.split('\n', 1)[0] ?? '');
  }
  const { seeds, seed, trace, outage, minutes, rate } = values;
  const numbers = { seeds, seed, minutes, rate };
  for (const [name, text] of Object.entries(numbers)) {
    const most = name === 'minutes' || name === 'rate' ? 1_000 : MOST_SEEDS;
    if (text !== undefined && !isWhole(text, most)) {
      return problem(`--${name}: expected a whole number from 1 to ${most}, got ${JSON.stringify(text)}`);
    }
  }
  if (outage !== undefined) {
    if (outage !== 'store' && outage !== 'send' && outage !== 'both') {
      return problem(`--outage: expected store, send or both, got ${JSON.stringify(outage)}`);
    }
    const targets: OutagePlan['target'][] = outage === 'both' ? ['store', 'send'] : [outage];
    return { kind: 'outages', targets, minutes: Number(minutes ?? 60), messagesPerSecond: Number(rate ?? 200) };
  }
  if (trace) {
    return seed === undefined ? problem('--trace: expected --seed S beside it') : { kind: 'trace', seed: Number(seed) };
  }
  if (seeds === undefined) return problem('expected --seeds N, --seed S --trace, or --outage store|send|both');
  return { kind: 'lives', from: Number(seed ?? 1), count: Number(seeds) };
}

const isWhole = (text: string | boolean, most: number): boolean =>
  /^[1-9]\d*$/.test(String(text)) && Number(text) <= most;
