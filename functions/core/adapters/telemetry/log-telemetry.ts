import type { Level, Telemetry } from '../../pipeline/ports.ts';
import { safeText } from '../../rules/redact.ts';

/** Of one text in a line: an error of an SDK may hold a whole answer. */
const TEXT_BYTES = 4_096;

/** Writes a line at a level, as an invocation's context does. */
export type LogLine = (level: Level, line: string) => void;

/** {@link Telemetry} as structured log lines: a JSON object each, told apart by `event`. Their texts hold no secrets. */
export const logTelemetry = (write: LogLine): Telemetry => ({
  processed(report) {
    const level: Level =
      report.outcome === 'dead-lettered' ? 'warning' : report.outcome === 'left' ? 'error' : 'information';
    const { reason, description } = report;
    const texts = {
      ...(reason !== undefined && { reason: safeText(reason, TEXT_BYTES) }),
      ...(description !== undefined && { description: safeText(description, TEXT_BYTES) }),
    };
    write(level, JSON.stringify({ event: 'delivery.processed', ...report, ...texts }));
  },
  log(level, message, details = {}) {
    write(level, JSON.stringify({ event: 'delivery.note', message: safeText(message, TEXT_BYTES), ...details }));
  },
});
