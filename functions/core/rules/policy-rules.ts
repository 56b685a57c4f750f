import { classNames, type Link, read, readText } from './error-chain.ts';
import type { PolicyRule } from './policy.ts';
import { statusOf } from './status.ts';

/** A rule and the error that it is about. */
export interface Match {
  readonly error: unknown;
  readonly rule: PolicyRule;
}

/** How specific a match is, compared number by number, the greater wins. */
type Rank = readonly [tier: number, derivation: number, nearness: number, isPermanent: number];

/**
 * The most specific of an event's own rules that holds anywhere in a chain, whatever their order: by code, then status,
 * then class (the more derived first), then predicate. Among equals the outermost error's, then `permanent`.
 */
export function bestRule(chain: readonly Link[], rules: readonly PolicyRule[]): Match | undefined {
  let best: (Match & { rank: Rank }) | undefined;
  for (const { error, depth } of chain) {
    for (const rule of rules) {
      const specificity = specificityOf(rule.when, error);
      if (!specificity) continue;
      const rank: Rank = [...specificity, -depth, rule.is === 'transient' ? 0 : 1];
      if (!best || isGreater(rank, best.rank)) best = { error, rule, rank };
    }
  }
  return best && { error: best.error, rule: best.rule };
}

/** How specific a rule is for an error, or undefined where it does not hold. */
function specificityOf(when: PolicyRule['when'], error: unknown): readonly [number, number] | undefined {
  if ('code' in when) return codesOf(error).includes(when.code) ? [3, 0] : undefined;
  if ('status' in when) return statusOf(error) === when.status ? [2, 0] : undefined;
  if ('name' in when) {
    const derivation = derivationOf(error, when.name);
    return derivation === 0 ? undefined : [1, derivation];
  }
  try {
    return when.matches(error) === true ? [0, 0] : undefined;
  } catch {
    return undefined;
  }
}

/** The codes of an error: its `code`, and the number that SQL Server's drivers give. */
const codesOf = (error: unknown): string[] =>
  [read(error, 'code'), read(error, 'number')]
    .filter((code) => typeof code === 'string' || typeof code === 'number')
    .map(String);

/** How many classes stand above the one of this name, itself included; 0 where the error is none of that name. */
function derivationOf(error: unknown, name: string): number {
  const classes = classNames(error);
  const at = classes.indexOf(name);
  if (at >= 0) return classes.length - at;
  // A name of its own, given by hand, says more than any class.
  return readText(error, 'name') === name ? classes.length + 1 : 0;
}

function isGreater(a: Rank, b: Rank): boolean {
  const differing = ([0, 1, 2, 3] as const).find((index) => a[index] !== b[index]);
  return differing !== undefined && a[differing] > b[differing];
}
