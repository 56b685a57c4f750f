import { context, ROOT_CONTEXT, TraceFlags, trace } from '@opentelemetry/api';
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { expect, test } from 'vitest';
import { startPlainSdk } from '../../../../functions/core/adapters/telemetry/plain-sdk.ts';

test('a chain is kept whole whose producer samples its own spans away', async () => {
  const exporter = new InMemorySpanExporter();
  const stop = startPlainSdk({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const producer = {
    traceId: '11111111111111111111111111111111',
    spanId: '2222222222222222',
    traceFlags: TraceFlags.NONE,
    isRemote: true,
  };
  const span = trace.getTracer('test').startSpan('process', {}, trace.setSpanContext(ROOT_CONTEXT, producer));
  span.end();

  expect(exporter.getFinishedSpans().map((each) => each.spanContext().traceId)).toEqual([producer.traceId]);
  await stop();
  trace.disable();
  context.disable();
});
