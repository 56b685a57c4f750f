/** What the conventions write where a failure has no name of its own. */
export const OTHER = '_OTHER';

/** Far more than one app has names for failures; few enough for every backend. */
const MOST_VALUES = 100;

/**
 * Keeps an attribute of metrics to few values, whatever code writes them: those that are known and the first hundred
 * others of this process pass, any further is {@link OTHER}. A handler that makes its codes from ids gives each event
 * one of its own, and every series of a metric is kept, sent and paid for until the process ends.
 */
export function fewValues(known: readonly string[], most = MOST_VALUES): (value: string) => string {
  const passed = new Set(known);
  const limit = passed.size + most;
  return (value) => {
    if (passed.has(value)) return value;
    if (passed.size >= limit) return OTHER;
    passed.add(value);
    return value;
  };
}
