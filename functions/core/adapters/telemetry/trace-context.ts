import { isSpanContextValid, type SpanContext } from '@opentelemetry/api';
import { type Delivery, string } from '../../rules/delivery.ts';
import type { Copy } from '../../rules/redelivery.ts';

const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})/;
/** As it travels: the SDKs of the service read and write the first, the standard names the second. */
const PROPERTIES = ['Diagnostic-Id', 'traceparent'];

/** The span that a W3C traceparent names. */
export function spanContextOf(traceparent: unknown): SpanContext | undefined {
  const [, traceId = '', spanId = '', flags = ''] = TRACEPARENT.exec(String(traceparent)) ?? [];
  const spanContext = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return isSpanContextValid(spanContext) ? spanContext : undefined;
}

/** The span that sent a message. */
export const senderOf = ({ properties }: Delivery): SpanContext | undefined =>
  PROPERTIES.map((name) => spanContextOf(properties.get(name)?.value)).find((found) => found !== undefined);

/** As W3C writes it; undefined of a span that is none. */
export const traceparentOf = (spanContext: SpanContext): string | undefined =>
  isSpanContextValid(spanContext)
    ? `00-${spanContext.traceId}-${spanContext.spanId}-${spanContext.traceFlags.toString(16).padStart(2, '0')}`
    : undefined;

/** The copy with another span as its sender. Only replaces, by the same length: what had no room for one gets none. */
export function sentBy(copy: Copy, spanContext: SpanContext): Copy {
  const traceparent = traceparentOf(spanContext);
  if (!traceparent) return copy;
  const set = new Map(copy.set);
  for (const name of PROPERTIES) if (set.has(name)) set.set(name, string(traceparent));
  return { ...copy, set };
}
