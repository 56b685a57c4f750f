import { metrics } from '@opentelemetry/api';
import { logs } from '@opentelemetry/api-logs';
import { defaultResource, detectResources, envDetector } from '@opentelemetry/resources';
import { LoggerProvider } from '@opentelemetry/sdk-logs';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { AlwaysOnSampler, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import type { Exporters } from './otlp-exporters.ts';

/**
 * Registers the OpenTelemetry SDK with nothing but these exporters. All traces are sampled, whatever the producer or the
 * host decided for theirs: of a chain of attempts with a link missing nothing can be told.
 *
 * @returns what sends the rest and stops it
 */
export function startPlainSdk(exporters: Partial<Exporters> = {}): () => Promise<unknown> {
  const { metricReaders = [], spanProcessors = [], logRecordProcessors = [] } = exporters;
  // What `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` say.
  const resource = defaultResource().merge(detectResources({ detectors: [envDetector] }));
  const meters = new MeterProvider({ resource, readers: metricReaders });
  const tracers = new NodeTracerProvider({ resource, spanProcessors, sampler: new AlwaysOnSampler() });
  const loggers = new LoggerProvider({ resource, processors: logRecordProcessors });
  metrics.setGlobalMeterProvider(meters);
  tracers.register();
  logs.setGlobalLoggerProvider(loggers);
  return () => Promise.allSettled([meters.shutdown(), tracers.shutdown(), loggers.shutdown()]);
}
