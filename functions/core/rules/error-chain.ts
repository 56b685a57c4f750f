/** How many errors of a chain are looked at: causes and aggregates can be cyclic, or endless. */
const MOST_ERRORS = 64;

/** Names under which errors hold the ones that they wrap: the language's own, then those of database drivers. */
const WRAPPED = ['cause', 'error', 'suppressed', 'originalError', 'original', 'innerError'];

/** An error and how deeply it is wrapped; 0 for what was thrown. */
export interface Link {
  readonly error: unknown;
  readonly depth: number;
}

/** The error, the errors that it wraps and the members of aggregates, outermost first, each once. Never throws. */
export function unfold(thrown: unknown): Link[] {
  const chain: Link[] = [{ error: thrown, depth: 0 }];
  const seen = new Set<unknown>([thrown]);
  for (const { error, depth } of chain) {
    for (const inner of [...WRAPPED.map((name) => read(error, name)), ...members(error)]) {
      if (!isHolder(inner) || seen.has(inner) || chain.length >= MOST_ERRORS) continue;
      seen.add(inner);
      chain.push({ error: inner, depth: depth + 1 });
    }
  }
  return chain;
}

function members(error: unknown): unknown[] {
  const errors = read(error, 'errors');
  const length = read(errors, 'length');
  const count = typeof length === 'number' ? Math.min(length, MOST_ERRORS) : 0;
  return Array.from({ length: count }, (_, index) => read(errors, String(index)));
}

const isHolder = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';

/** A property of anything; undefined where its getter throws, its proxy is revoked, or nothing is there to read from. */
export function read(value: unknown, name: string): unknown {
  try {
    // Most reads are of what is not there; an exception for each would be most of the cost of a classification.
    return (value as Record<string, unknown> | null | undefined)?.[name];
  } catch {
    return undefined;
  }
}

/** As `read`, for a text; undefined for an empty one. */
export function readText(value: unknown, name: string): string | undefined {
  const found = read(value, name);
  return typeof found === 'string' && found !== '' ? found : undefined;
}

/** The object's classes, its own first, by the names of their constructors. Never throws. */
export function classNames(value: unknown): string[] {
  const names: string[] = [];
  try {
    let prototype = isHolder(value) ? Object.getPrototypeOf(value) : null;
    while (prototype !== null && names.length < MOST_ERRORS) {
      names.push(readText(read(prototype, 'constructor'), 'name') ?? '');
      prototype = Object.getPrototypeOf(prototype);
    }
  } catch {
    // A proxy that hides its prototype: what was found so far counts.
  }
  return names;
}
