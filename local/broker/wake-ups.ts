import type { Namespace } from './model/namespace.ts';

/** A runtime timer set further ahead than 2^31 - 1 milliseconds fires at once. */
const LONGEST_TIMER_IN_MS = 2 ** 31 - 1;
const SHORTEST_TIMER_IN_MS = 1;

/**
 * Wakes the namespace when something in it falls due, with one timer for all of it.
 *
 * @returns ends the wake-ups
 */
export function startWakeUps(namespace: Namespace): () => void {
  let timer: NodeJS.Timeout | undefined;
  let dueAtMs = Number.POSITIVE_INFINITY;
  const set = () => {
    const delayInMs = namespace.nextDueInMs();
    const atMs = performance.now() + delayInMs;
    // Operations come by the thousand: the timer is only ever moved forward in time, or set anew when it has fired.
    if (atMs >= dueAtMs) return;
    clearTimeout(timer);
    dueAtMs = atMs;
    timer = setTimeout(wake, Math.min(Math.max(delayInMs, SHORTEST_TIMER_IN_MS), LONGEST_TIMER_IN_MS));
  };
  const wake = () => {
    dueAtMs = Number.POSITIVE_INFINITY;
    namespace.advance();
    set();
  };
  const unwatch = namespace.onEarlierDue(set);
  set();
  return () => {
    unwatch();
    clearTimeout(timer);
    dueAtMs = Number.NEGATIVE_INFINITY;
  };
}
