import type { Clock, Report } from '../../pipeline/ports.ts';
import type { Delivery } from '../../rules/delivery.ts';
import { type Envelope, lifeOf, PROPERTY } from '../../rules/envelope.ts';
import { parseIso } from '../../rules/text.ts';
import { boundedCode } from './bounded-code.ts';
import { SYSTEM } from './delivery-spans.ts';
import { OTHER } from './few-values.ts';
import { ATTRIBUTE, type Measure } from './instruments.ts';

/** What the report of a delivery does not say of it. */
export interface Seen {
  readonly delivery: Delivery;
  readonly envelope: Envelope;
  /** The attempt that the copy sent last carries. */
  readonly copyAttempt: number | undefined;
  readonly isLockLost: boolean;
  /** Runs of this attempt that ended without an outcome, as its record in the ledger says. */
  readonly takeovers: number;
  /** The broker's clock, as far as it is known. */
  readonly nowUtc: number;
}

const inSeconds = (inMs: number): number => Math.max(0, inMs) / 1_000;

/** Why a delivery failed, by a name; undefined where it did not. */
export function failureOf({ outcome, reason }: Report): string | undefined {
  if (outcome === 'redelivered' || outcome === 'dead-lettered') return boundedCode(reason);
  return outcome === 'left' ? OTHER : undefined;
}

/** Measures a delivery that has come. */
export function measureArrival(
  measure: Measure,
  { delivery, envelope }: Pick<Seen, 'delivery' | 'envelope'>,
  consumer: string,
  clock: Pick<Clock, 'nowUtc'>,
): void {
  measure('consumed', 1, {
    [ATTRIBUTE.system]: SYSTEM,
    [ATTRIBUTE.operationName]: 'receive',
    [ATTRIBUTE.destination]: delivery.entity,
  });
  const delays = delaysOf(delivery, envelope, clock.nowUtc());
  if (!delays) return;
  measure('plannedDelay', inSeconds(delays.plannedInMs), { [ATTRIBUTE.consumer]: consumer });
  measure('actualDelay', inSeconds(delays.actualInMs), { [ATTRIBUTE.consumer]: consumer });
}

/** Of a copy that comes for the first time: both count from the failure, by what the copy says itself. */
function delaysOf({ deliveryCount, properties }: Delivery, envelope: Envelope, nowUtc: number) {
  const { isBelieved, attempt, deferrals, origin } = envelope;
  if (!isBelieved || attempt === 1 || deferrals > 0 || deliveryCount > 1) return undefined;
  const failed = properties.get(PROPERTY.lastFailed)?.value;
  const failedUtc = typeof failed === 'string' ? parseIso(failed) : undefined;
  if (failedUtc === undefined || origin.notBeforeUtc === undefined) return undefined;
  return { plannedInMs: origin.notBeforeUtc - failedUtc, actualInMs: nowUtc - failedUtc };
}

/** Measures a delivery that has ended. */
export function measureEnd(measure: Measure, report: Report, seen: Seen): void {
  const { outcome, tries, attempt, reason, durationInMs, generation } = report;
  const { delivery, envelope, nowUtc } = seen;
  const consumer = { [ATTRIBUTE.consumer]: report.consumer };
  measure('deliveries', 1, { ...consumer, [ATTRIBUTE.outcome]: outcome });
  if (tries > 0) {
    measure('attempts', 1, consumer);
    measure('tries', tries, consumer);
  }
  if (outcome === 'redelivered')
    measure('redeliveries', 1, { ...consumer, [ATTRIBUTE.attempt]: seen.copyAttempt ?? attempt + 1 });
  if (outcome === 'deferred') measure('deferrals', 1, { ...consumer, [ATTRIBUTE.cause]: reason ?? OTHER });
  if (outcome === 'dead-lettered') measure('deadLetters', 1, { ...consumer, [ATTRIBUTE.reason]: boundedCode(reason) });
  if (outcome === 'duplicate' || outcome === 'stale')
    measure('duplicates', 1, { ...consumer, [ATTRIBUTE.outcome]: outcome });
  if (seen.takeovers > 0 && (tries > 0 || reason === 'PoisonMessage')) measure('takeovers', 1, consumer);
  if (seen.isLockLost || (outcome === 'left' && reason?.startsWith('lock lost'))) measure('locksLost', 1, consumer);
  if (outcome === 'succeeded' || outcome === 'dead-lettered') {
    const { firstEnqueuedUtc } = lifeOf(envelope, generation, 0);
    measure('eventDuration', inSeconds(nowUtc - firstEnqueuedUtc), { ...consumer, [ATTRIBUTE.outcome]: outcome });
  }
  measure('processDuration', inSeconds(durationInMs), {
    [ATTRIBUTE.system]: SYSTEM,
    [ATTRIBUTE.operationName]: 'process',
    [ATTRIBUTE.destination]: delivery.entity,
    [ATTRIBUTE.errorType]: failureOf(report),
  });
}
