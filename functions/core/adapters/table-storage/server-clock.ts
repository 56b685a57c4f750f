/** The store's clock at some moment, as far as it is known: no earlier and no later than these. */
export interface ServerTime {
  readonly earliestUtc: number;
  readonly latestUtc: number;
}

/** Follows the store's clock by the `Date` headers of its responses. */
export interface ServerClock {
  /** Takes in one response; all instants on the monotonic clock. A header that is missing or no date changes nothing. */
  observe(dateHeader: string | undefined, sentAtInMs: number, receivedAtInMs: number): void;
  /** The store's time at a moment of the monotonic clock; absent before the first response. */
  at(monotonicInMs: number): ServerTime | undefined;
}

/** `Date` headers count whole seconds. */
const RESOLUTION_IN_MS = 1_000;
/** Far beyond what a quartz drifts, so that a narrow estimate never outlives its truth. */
const DRIFT = 1 / 2_000;

/**
 * A response written between `sent` and `received` with the date D says that the store's clock less ours lies between
 * D - received and D + 1 s - sent. Bounds of several responses are intersected, which narrows them to the latency;
 * where they contradict (our machine slept, another front end answered) the latest response counts alone.
 *
 * Bounds and not one estimate, because leases need each side: a lease is written by the latest time and judged by the
 * earliest, so that no machine takes a lease for lapsed before it has lasted its length. The local wall clock is never
 * asked.
 */
export function serverClock(): ServerClock {
  let known: { low: number; high: number; atInMs: number } | undefined;
  const spread = (atInMs: number) => {
    if (!known) return undefined;
    const drift = Math.max(0, atInMs - known.atInMs) * DRIFT;
    return { low: known.low - drift, high: known.high + drift };
  };
  return {
    observe(dateHeader, sentAtInMs, receivedAtInMs) {
      const date = Date.parse(dateHeader ?? '');
      if (!Number.isFinite(date)) return;
      const latest = { low: date - receivedAtInMs, high: date + RESOLUTION_IN_MS - sentAtInMs };
      const before = spread(receivedAtInMs) ?? latest;
      const low = Math.max(before.low, latest.low);
      const high = Math.min(before.high, latest.high);
      known = { ...(low <= high ? { low, high } : latest), atInMs: receivedAtInMs };
    },
    at(monotonicInMs) {
      const bounds = spread(monotonicInMs);
      return (
        bounds && {
          earliestUtc: Math.floor(monotonicInMs + bounds.low),
          latestUtc: Math.ceil(monotonicInMs + bounds.high),
        }
      );
    },
  };
}
