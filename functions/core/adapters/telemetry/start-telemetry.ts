import type { LogHookContext } from '@azure/functions';
import { metrics, trace } from '@opentelemetry/api';
import { logs, SeverityNumber } from '@opentelemetry/api-logs';
import { redact } from '../../rules/redact.ts';
import { systemClock } from '../system-clock.ts';
import type { Stranded } from '../table-storage/sweep.ts';
import type { Environment } from './environment.ts';
import { sayExportTrouble } from './export-trouble.ts';
import { measureWith } from './instruments.ts';
import { measureStranded } from './measure-stranded.ts';
import { DeliveryWatch, type Watched } from './watch-delivery.ts';

/** What a process sends of itself to Application Insights, to an OTLP endpoint, or to both. */
export interface ExportedTelemetry {
  /** Watches one delivery, from its arrival to its end. */
  watch(watched: Watched): DeliveryWatch;
  /**
   * A line of the app's log, as the hook gives it. None arrives twice: with `WorkerOpenTelemetryEnabled` the host goes on
   * showing the lines of functions in its log stream, but its own exporters leave out the categories `Function.*`
   * (`OpenTelemetryConfigurationExtensions.cs` of Azure/azure-functions-host). What is printed past the context would come
   * from both (azure-functions-host#10561), so nothing is.
   */
  log(line: Pick<LogHookContext, 'category' | 'level' | 'message' | 'invocationContext'>): void;
  /** What a sweep of the ledger has found stranded. */
  stranded(found: readonly Stranded[]): void;
  /** Sends what is left, for at most a second. Never rejects. */
  stop(): Promise<void>;
}

/** Of instruments, spans and log records. */
const SCOPE = 'servicebus-redelivery';
/** The host gives a worker 5 s in all to stop. */
const LAST_EXPORT_IN_MS = 1_000;

/** The levels of Functions by the numbers of OpenTelemetry. */
const SEVERITY: Readonly<Record<string, SeverityNumber>> = {
  trace: SeverityNumber.TRACE,
  debug: SeverityNumber.DEBUG,
  information: SeverityNumber.INFO,
  warning: SeverityNumber.WARN,
  error: SeverityNumber.ERROR,
  critical: SeverityNumber.FATAL,
};

/** Loads and starts what the settings name, then gives what records with it. */
export async function startTelemetry(environment: Environment): Promise<ExportedTelemetry> {
  const connectionString = environment['APPLICATIONINSIGHTS_CONNECTION_STRING'];
  const otlp = environment['OTEL_EXPORTER_OTLP_ENDPOINT']
    ? (await import('./otlp-exporters.ts')).otlpExporters()
    : undefined;
  const shutdown = connectionString
    ? (await import('./azure-monitor.ts')).startAzureMonitor(connectionString, environment, otlp)
    : (await import('./plain-sdk.ts')).startPlainSdk(otlp);
  // The console is the host's to show, and nothing of it is exported.
  sayExportTrouble(systemClock, (line) => console.warn(line));
  // Only now: whoever asks the API for a meter before there is an SDK keeps one that does nothing.
  const measure = measureWith(metrics.getMeter(SCOPE));
  const tracer = trace.getTracer(SCOPE);
  const logger = logs.getLogger(SCOPE);
  return {
    watch: (watched) => new DeliveryWatch(measure, tracer, watched),
    log({ category, level, message, invocationContext }) {
      if (category !== 'user') return;
      logger.emit({
        severityNumber: SEVERITY[level] ?? SeverityNumber.INFO,
        severityText: level,
        // What went wrong may quote what it went wrong with.
        body: level === 'warning' || level === 'error' ? redact(message) : message,
        attributes: invocationContext
          ? { 'faas.name': invocationContext.functionName, 'faas.invocation_id': invocationContext.invocationId }
          : {},
      });
    },
    stranded: (found) => measureStranded(measure, found),
    stop: () => within(LAST_EXPORT_IN_MS, shutdown),
  };
}

/** Waits for the end of what is started, but not for ever and not for its success. */
async function within(limitInMs: number, start: () => Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitInMs);
  });
  await Promise.race([start().catch(() => undefined), limit]);
  clearTimeout(timer);
}
