/** Levels of the Functions host, from least to most severe. */
export const LOG_LEVELS = ['trace', 'debug', 'information', 'warning', 'error', 'critical'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** One line of the host's log: what the host itself says, and what the app's worker says, each once. */
export interface LogEntry {
  readonly level: LogLevel;
  /** `Function.<name>` and `Function.<name>.User` for an invocation and its own lines, `Host.*` and `Worker` else. */
  readonly category: string;
  readonly message: string;
  readonly functionName?: string;
  readonly invocationId?: string;
}
