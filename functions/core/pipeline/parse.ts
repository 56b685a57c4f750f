import { type Inflate, readBody } from '../rules/body.ts';
import type { Delivery } from '../rules/delivery.ts';
import type { Failure } from '../rules/failure.ts';
import { cut } from '../rules/text.ts';
import type { EventConsumer } from './event-consumer.ts';

/** The event in a delivery, or why there is none. */
export type Parsed<Event> =
  | { readonly kind: 'event'; readonly event: Event }
  | { readonly kind: 'unreadable'; readonly failure: Failure };

/** Body bytes to value, then the schema. A failure is permanent, with the paths that failed. */
export function parse<Event>(
  delivery: Delivery,
  consumer: Pick<EventConsumer<Event>, 'validate'>,
  inflate?: Inflate,
): Parsed<Event> {
  const body = readBody(delivery, inflate);
  if (body.kind === 'malformed') return { kind: 'unreadable', failure: body.failure };
  const validation = consumer.validate(body.value);
  if (validation.kind === 'valid') return { kind: 'event', event: validation.event };
  const message = cut(validation.problems.join('; '), 2_048);
  return {
    kind: 'unreadable',
    failure: { kind: 'permanent', reason: 'SchemaViolation', code: 'SchemaViolation', message },
  };
}
