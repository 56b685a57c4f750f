import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { BatchLogRecordProcessor, type LogRecordProcessor } from '@opentelemetry/sdk-logs';
import { type MetricReader, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, type SpanProcessor } from '@opentelemetry/sdk-trace-node';

/** What an SDK hands its telemetry to. */
export interface Exporters {
  readonly metricReaders: MetricReader[];
  readonly spanProcessors: SpanProcessor[];
  readonly logRecordProcessors: LogRecordProcessor[];
}

/**
 * OTLP over HTTP, as protobuf; address, headers and timeouts are those of the standard's own variables, of which
 * `OTEL_EXPORTER_OTLP_ENDPOINT` is one. Intervals are the SDK's: metrics once a minute; spans and lines after a few
 * seconds, or once there are 512. What waits in vain is dropped beyond 2,048 of each: messages come first.
 */
export const otlpExporters = (): Exporters => ({
  metricReaders: [new PeriodicExportingMetricReader({ exporter: new OTLPMetricExporter() })],
  spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  logRecordProcessors: [new BatchLogRecordProcessor({ exporter: new OTLPLogExporter() })],
});
