import { AsyncLocalStorage } from 'node:async_hooks';
import { format } from 'node:util';
import type { LogLevel } from '../log-entry.ts';
import type { FromWorker } from '../worker-protocol.ts';

/** The invocation that the running code belongs to, through every `await` of it. */
export const currentInvocation = new AsyncLocalStorage<{ functionName: string; invocationId: string }>();

/** Sends to the host; resolves when the message has left the process, also when nobody is there to take it. */
export function report(message: FromWorker): Promise<void> {
  return new Promise((resolve) => {
    if (!process.connected) resolve();
    else process.send?.(message, undefined, undefined, () => resolve());
  });
}

const CONSOLE_LEVELS = {
  trace: 'trace',
  debug: 'debug',
  log: 'information',
  info: 'information',
  warn: 'warning',
  error: 'error',
} as const satisfies Record<string, LogLevel>;

/**
 * Sends what the app prints through `console` to the host, with the invocation it belongs to, instead of to stdout,
 * where the host would find it a second time and without its invocation.
 */
export function captureConsole(): void {
  for (const [method, level] of Object.entries(CONSOLE_LEVELS)) {
    console[method as keyof typeof CONSOLE_LEVELS] = (...values: unknown[]) => {
      void report({
        kind: 'log',
        entry: {
          level,
          category: 'Host.Function.Console',
          message: format(...values),
          ...currentInvocation.getStore(),
        },
      });
    };
  }
}

/** Reports an error that nobody caught, a rejection too, and ends the process, as the real worker does. */
export function reportUncaught(): void {
  process.on('uncaughtException', (error: unknown) => {
    const text = error instanceof Error ? (error.stack ?? error.message) : format(error);
    void report({
      kind: 'log',
      entry: {
        level: 'error',
        category: 'Worker',
        message: `Worker uncaught exception: ${text}`,
        ...currentInvocation.getStore(),
      },
    }).then(() => process.exit(1));
  });
}
