import { type DiagLogger, DiagLogLevel, diag } from '@opentelemetry/api';
import type { Clock } from '../../pipeline/ports.ts';
import { safeText } from '../../rules/redact.ts';

/** How long nothing more is said after a line, in ms: an endpoint that is down fails every few seconds. */
const QUIET_IN_MS = 600_000;
const MESSAGE_BYTES = 512;

/**
 * Says that telemetry does not get through, which the SDK keeps to itself: the first complaint at once, then one line in
 * ten minutes, with how many there were in between. Nothing else is disturbed by it.
 *
 * @param write takes a line; it must not be one that is exported, or each would cause the next
 */
export function sayExportTrouble(clock: Pick<Clock, 'monotonicInMs'>, write: (line: string) => void): void {
  let quietUntilInMs = Number.NEGATIVE_INFINITY;
  let unsaid = 0;
  const complain = (message: string, ...details: unknown[]): void => {
    const nowInMs = clock.monotonicInMs();
    if (nowInMs < quietUntilInMs) {
      unsaid += 1;
      return;
    }
    const text = safeText([message, ...details].map(String).join(' '), MESSAGE_BYTES);
    write(JSON.stringify({ event: 'telemetry.trouble', message: text, unsaid }));
    quietUntilInMs = nowInMs + QUIET_IN_MS;
    unsaid = 0;
  };
  const nothing = (): void => undefined;
  const logger: DiagLogger = { error: complain, warn: complain, info: nothing, debug: nothing, verbose: nothing };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}
