import type { Level, Telemetry } from '../../pipeline/ports.ts';

/** Writes a line at a level, as an invocation's context does. */
export type LogLine = (level: Level, line: string) => void;

/** {@link Telemetry} as structured log lines: a JSON object each, told apart by `event`. */
export const logTelemetry = (write: LogLine): Telemetry => ({
  processed(report) {
    const level: Level =
      report.outcome === 'dead-lettered' ? 'warning' : report.outcome === 'left' ? 'error' : 'information';
    write(level, JSON.stringify({ event: 'delivery.processed', ...report }));
  },
  log(level, message, details = {}) {
    write(level, JSON.stringify({ event: 'delivery.note', message, ...details }));
  },
});
