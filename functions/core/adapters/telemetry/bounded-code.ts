import { OTHER } from './few-values.ts';

const CODE = /^[A-Za-z][A-Za-z0-9_.]{0,63}$/;

/** A code as it may stand on a metric: a name that some code wrote, not a sentence, which could be another each time. */
export const boundedCode = (code: string | undefined): string => (code !== undefined && CODE.test(code) ? code : OTHER);

/** The name of a failed settlement or send: its `code` where that is a name. */
export function errorType(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown };
  // The host tells it by the text alone: gRPC's codes do not know of locks.
  if (/LockLost/.test(`${String(code)} ${String(message)}`)) return 'MessageLockLost';
  return boundedCode(typeof code === 'string' ? code : undefined);
}
