import rhea, { type EventContext } from 'rhea';

/** Parts of rhea that its types do not show. */
type Updatable = { update(settled: boolean, state: unknown): void };
const { accepted } = rhea.message as unknown as { accepted(): { described(): unknown } };

/** Accepts a delivery, and settles it or leaves that to the other side. */
export function accept(delivery: EventContext['delivery'], isSettled: boolean): void {
  (delivery as unknown as Updatable).update(isSettled, accepted().described());
}
