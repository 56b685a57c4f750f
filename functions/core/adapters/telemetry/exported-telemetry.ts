import type { Environment } from './environment.ts';
import type { ExportedTelemetry } from './start-telemetry.ts';

/** Whether any telemetry is to be sent. */
export const isExported = (environment: Environment): boolean =>
  Boolean(environment['APPLICATIONINSIGHTS_CONNECTION_STRING'] || environment['OTEL_EXPORTER_OTLP_ENDPOINT']);

/**
 * Starts to export where the settings say so; without them not even the API is loaded.
 *
 * @throws Error where a setting is not understood
 */
export async function exportedTelemetry(environment: Environment): Promise<ExportedTelemetry | undefined> {
  if (!isExported(environment)) return undefined;
  const { startTelemetry } = await import('./start-telemetry.ts');
  return startTelemetry(environment);
}
