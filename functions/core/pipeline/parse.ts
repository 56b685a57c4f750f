import { type Inflate, readBody } from '../rules/body.ts';
import type { Delivery } from '../rules/delivery.ts';
import { classify, type Failure } from '../rules/failure.ts';
import { cut } from '../rules/text.ts';
import type { EventConsumer } from './event-consumer.ts';

/** The event in a delivery, its own id and fingerprint where it has those; or why there is none. */
export type Parsed<Event> =
  | {
      readonly kind: 'event';
      readonly event: Event;
      readonly eventId: string | undefined;
      readonly fingerprint: string | undefined;
    }
  | { readonly kind: 'unreadable'; readonly failure: Failure };

/**
 * Body bytes to value, then the schema. A failure is permanent, with the paths that failed; so is one of the event's own
 * code, which would fail on this message again.
 */
export function parse<Event>(
  delivery: Delivery,
  consumer: Pick<EventConsumer<Event>, 'validate' | 'eventId' | 'fingerprint'>,
  inflate?: Inflate,
): Parsed<Event> {
  const body = readBody(delivery, inflate);
  if (body.kind === 'malformed') return { kind: 'unreadable', failure: body.failure };
  try {
    const validation = consumer.validate(body.value);
    if (validation.kind === 'invalid') return violation(validation.problems.join('; '));
    const { event } = validation;
    const eventId = consumer.eventId?.(event, delivery);
    return { kind: 'event', event, eventId, fingerprint: consumer.fingerprint?.(event) };
  } catch (error) {
    return violation(`the schema, the event id or the fingerprint failed: ${classify(error).message}`);
  }
}

const violation = (message: string): Parsed<never> => ({
  kind: 'unreadable',
  failure: { kind: 'permanent', reason: 'SchemaViolation', code: 'SchemaViolation', message: cut(message, 2_048) },
});
