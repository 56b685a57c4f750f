import type { Level, Report, Telemetry } from '../../functions/core/pipeline/ports.ts';

export interface FakeTelemetry extends Telemetry {
  readonly reports: readonly Report[];
  readonly lines: readonly { readonly level: Level; readonly message: string }[];
}

/** Keeps what it is told. */
export function fakeTelemetry(): FakeTelemetry {
  const reports: Report[] = [];
  const lines: { level: Level; message: string }[] = [];
  return {
    reports,
    lines,
    processed: (report) => void reports.push(report),
    log: (level, message) => void lines.push({ level, message }),
  };
}
