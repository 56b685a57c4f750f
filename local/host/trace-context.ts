import { randomBytes } from 'node:crypto';

const TRACE_PARENT = /^00-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** The trace context of an invocation: a new span, in the trace of what caused it where that is known. */
export function traceContext(cause?: { readonly traceParent?: unknown; readonly traceState?: unknown }): {
  traceParent: string;
  traceState: string;
} {
  const known = typeof cause?.traceParent === 'string' ? TRACE_PARENT.exec(cause.traceParent)?.[1] : undefined;
  const traceId = known ?? randomBytes(16).toString('hex');
  return {
    traceParent: `00-${traceId}-${randomBytes(8).toString('hex')}-01`,
    traceState: known && typeof cause?.traceState === 'string' ? cause.traceState : '',
  };
}
