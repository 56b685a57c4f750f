import {
  type Attributes,
  type Context,
  context,
  type Link,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { Delivery } from '../../rules/delivery.ts';
import { DEAD_LETTER_REASON, PROPERTY } from '../../rules/envelope.ts';
import { safeText } from '../../rules/redact.ts';
import { errorType } from './bounded-code.ts';
import { ATTRIBUTE } from './instruments.ts';
import { senderOf, spanContextOf } from './trace-context.ts';

/** `messaging.system` of Service Bus, by the semantic conventions. */
export const SYSTEM = 'azure.servicebus';
const MESSAGE_BYTES = 1_024;

/** Attributes that all spans on one queue share. */
const messaging = (operation: 'process' | 'settle' | 'send', queue: string): Attributes => ({
  [ATTRIBUTE.system]: SYSTEM,
  'messaging.operation.type': operation,
  [ATTRIBUTE.destination]: queue,
});

/**
 * The span of one delivery. It goes on with the trace that the host has begun for it; where that is not the trace of the
 * message (a host that begins anew, a batch), with the message's, so that the attempts of an event are one transaction.
 * A replay is a story of its own: it only links to the one that ended in the dead-letter queue.
 *
 * @param traceparent of the host's invocation
 */
export function startProcessSpan(tracer: Tracer, delivery: Delivery, traceparent: string | undefined): Span {
  const { entity, messageId, deliveryCount } = delivery;
  const invocation = spanContextOf(traceparent);
  const sender = senderOf(delivery);
  const links: Link[] = [];
  let parent = invocation;
  if (sender && isReplay(delivery)) links.push({ context: sender });
  else if (sender && sender.traceId !== invocation?.traceId) {
    parent = sender;
    if (invocation) links.push({ context: invocation });
  }
  const attributes = {
    ...messaging('process', entity),
    [ATTRIBUTE.operationName]: 'process',
    'messaging.message.id': messageId,
    'azure.servicebus.message.delivery_count': deliveryCount,
  };
  const from = parent ? trace.setSpanContext(context.active(), parent) : context.active();
  return tracer.startSpan(`process ${entity}`, { kind: SpanKind.CONSUMER, attributes, links }, from);
}

/** Whether someone brought the message back from the dead-letter queue: the first of its generation, or with its marks. */
function isReplay({ properties }: Delivery): boolean {
  if (properties.has(DEAD_LETTER_REASON)) return true;
  const countOf = (name: string) => Number(properties.get(name)?.value ?? 0);
  return countOf(PROPERTY.generation) > 0 && countOf(PROPERTY.attempt) === 0;
}

/** A call that a delivery makes, to be seen as a span below its own. */
export interface Child {
  readonly operation: 'settle' | 'send';
  /** What is called, as the service names it. */
  readonly name: string;
  readonly queue: string;
  readonly attributes: Attributes;
}

/** Calls in a span of its own, which fails as the call does. */
export async function inChildSpan<Value>(
  tracer: Tracer,
  parent: Context,
  { operation, name, queue, attributes }: Child,
  call: (span: Span) => Promise<Value>,
): Promise<Value> {
  const span = tracer.startSpan(
    `${name} ${queue}`,
    {
      kind: operation === 'send' ? SpanKind.PRODUCER : SpanKind.CLIENT,
      attributes: { ...messaging(operation, queue), [ATTRIBUTE.operationName]: name, ...attributes },
    },
    parent,
  );
  try {
    return await context.with(trace.setSpan(parent, span), () => call(span));
  } catch (error) {
    fail(span, errorType(error), error);
    throw error;
  } finally {
    span.end();
  }
}

/** Marks a span as failed; `type` is of a bounded set, the text goes to the status. */
export function fail(span: Span, type: string, error: unknown): void {
  span.setAttribute(ATTRIBUTE.errorType, type);
  const message = safeText(error instanceof Error ? error.message : String(error), MESSAGE_BYTES);
  span.setStatus({ code: SpanStatusCode.ERROR, message });
}
