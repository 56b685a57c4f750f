import type { PolicyRule } from './policy.ts';
import { cut } from './text.ts';

/** What a failed attempt comes down to. */
export type Failure =
  | {
      readonly kind: 'transient';
      readonly code: string;
      readonly message: string;
      /** What the other side asked for: ms from now, or an instant. */
      readonly retryAfter: { readonly inMs: number } | { readonly utc: number } | undefined;
    }
  /** `reason` is the dead letter's reason code. */
  | { readonly kind: 'permanent'; readonly reason: string; readonly code: string; readonly message: string }
  | { readonly kind: 'unclassified'; readonly code: string; readonly message: string };

/** Connection errors by code, node's and undici's, and database deadlocks. */
export const TRANSIENT_CODES: ReadonlySet<string> = new Set([
  'ECONNRESET',
  'ECONNREFUSED',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EAI_AGAIN',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'ENETUNREACH',
  '40P01',
  '40001',
]);
const SQL_SERVER_DEADLOCK = 1205;

/** 401 and 403 say that our credentials are at fault, not the message. */
const TRANSIENT_CLIENT_STATUSES: ReadonlySet<number> = new Set([401, 403, 408, 425, 429]);
const PERMANENT_SERVER_STATUSES: ReadonlySet<number> = new Set([501, 505]);

const isTransientStatus = (status: number): boolean =>
  TRANSIENT_CLIENT_STATUSES.has(status) || (status >= 500 && status <= 599 && !PERMANENT_SERVER_STATUSES.has(status));

/** How many errors of a chain are looked at: causes and aggregates can be cyclic, or endless. */
const MOST_ERRORS = 64;
const MESSAGE_BYTES = 2_048;

/**
 * Says what a thrown value means. Total: it never throws, whatever it is given (frozen, cyclic, with getters that
 * throw, no error at all). Causes and aggregates are looked through; the most specific rule wins whatever its depth
 * and whatever the order of the rules: what the handler itself declared, then the policy's rules by code, by status, by
 * predicate, then the defaults of design section 8. Among equals the outermost error wins.
 */
export function classify(thrown: unknown, rules: readonly PolicyRule[] = []): Failure {
  const chain = unfold(thrown);
  const failure =
    firstOf(chain, declared) ??
    firstOf(chain, (error) => byRule(error, rules, 'code')) ??
    firstOf(chain, (error) => byRule(error, rules, 'status')) ??
    firstOf(chain, (error) => byRule(error, rules, 'matches')) ??
    firstOf(chain, byDefault);
  return failure ?? { kind: 'unclassified', code: codeOf(thrown), message: messageOf(thrown) };
}

function firstOf(chain: readonly unknown[], look: (error: unknown) => Failure | undefined): Failure | undefined {
  for (const error of chain) {
    const found = look(error);
    if (found) return found;
  }
  return undefined;
}

/** The error, its causes and the members of aggregates, outermost first, each once. */
function unfold(thrown: unknown): unknown[] {
  const chain: unknown[] = [thrown];
  for (let at = 0; at < chain.length; at++) {
    const members = read(chain[at], 'errors');
    const inner = [read(chain[at], 'cause'), ...(Array.isArray(members) ? members.slice(0, MOST_ERRORS) : [])];
    for (const error of inner) {
      if (error != null && !chain.includes(error) && chain.length < MOST_ERRORS) chain.push(error);
    }
  }
  return chain;
}

/** `PermanentError` and `TransientError`, known by their mark: `instanceof` breaks across copies of a package. */
function declared(error: unknown): Failure | undefined {
  const mark = read(error, 'failure');
  if (mark === 'permanent') return permanent(error, codeOf(error));
  return mark === 'transient' ? transient(error) : undefined;
}

function byRule(error: unknown, rules: readonly PolicyRule[], by: 'code' | 'status' | 'matches'): Failure | undefined {
  const rule = rules.find(({ when }) => by in when && holds(when, error));
  if (!rule) return undefined;
  return rule.is === 'transient' ? transient(error) : permanent(error, rule.is.permanent);
}

function holds(when: PolicyRule['when'], error: unknown): boolean {
  if ('code' in when) return String(read(error, 'code')) === when.code;
  if ('status' in when) return statusOf(error) === when.status;
  try {
    return when.matches(error) === true;
  } catch {
    return false;
  }
}

function byDefault(error: unknown): Failure | undefined {
  const code = read(error, 'code');
  if (typeof code === 'string' && (TRANSIENT_CODES.has(code) || code.startsWith('UND_ERR_'))) return transient(error);
  if (read(error, 'number') === SQL_SERVER_DEADLOCK) return transient(error);
  if (read(error, 'name') === 'TimeoutError') return transient(error);
  // Azure SDK errors say so themselves.
  if (read(error, 'retryable') === true) return transient(error);
  const status = statusOf(error);
  if (status === undefined) return undefined;
  return isTransientStatus(status)
    ? transient(error)
    : { kind: 'unclassified', code: codeOf(error), message: messageOf(error) };
}

const permanent = (error: unknown, reason: string): Failure => ({
  kind: 'permanent',
  reason,
  code: codeOf(error),
  message: messageOf(error),
});

const transient = (error: unknown): Failure => ({
  kind: 'transient',
  code: codeOf(error),
  message: messageOf(error),
  retryAfter: retryAfterOf(error),
});

/** The HTTP status that an error carries, under the names in use. */
function statusOf(error: unknown): number | undefined {
  for (const name of ['status', 'statusCode']) {
    const value = read(error, name);
    if (typeof value === 'number' && Number.isInteger(value) && value >= 400 && value <= 599) return value;
  }
  return undefined;
}

/** `Retry-After`: milliseconds of our own error, else the header in seconds or as an HTTP date. */
function retryAfterOf(error: unknown): { inMs: number } | { utc: number } | undefined {
  const inMs = read(error, 'retryAfterInMs');
  if (typeof inMs === 'number' && Number.isFinite(inMs) && inMs >= 0) return { inMs };
  return parseRetryAfter(read(error, 'retryAfter'));
}

/** RFC 9110, section 10.2.3: a whole number of seconds, or an HTTP date. Anything else says nothing. */
export function parseRetryAfter(header: unknown): { inMs: number } | { utc: number } | undefined {
  if (typeof header === 'number' && Number.isFinite(header) && header >= 0) return { inMs: header * 1_000 };
  if (typeof header !== 'string') return undefined;
  const text = header.trim();
  if (/^\d{1,12}$/.test(text)) return { inMs: Number(text) * 1_000 };
  const utc = /^[A-Za-z]{3}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isFinite(utc) ? { utc } : undefined;
}

/** A short name for the error: its code, else `Http<status>`, else its name, else its type. */
function codeOf(error: unknown): string {
  const code = read(error, 'code');
  const name = read(error, 'name');
  const status = statusOf(error);
  const found =
    typeof code === 'string' && code !== ''
      ? code
      : status !== undefined
        ? `Http${status}`
        : typeof name === 'string' && name !== ''
          ? name
          : typeof error;
  return cut(found, 128);
}

function messageOf(error: unknown): string {
  const message = read(error, 'message');
  if (typeof message === 'string') return cut(message, MESSAGE_BYTES);
  try {
    return cut(typeof error === 'object' ? (JSON.stringify(error) ?? String(error)) : String(error), MESSAGE_BYTES);
  } catch {
    return 'an error that cannot be read';
  }
}

/** A property of anything, by getters that may throw and proxies that may lie. */
function read(value: unknown, name: string): unknown {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return undefined;
  try {
    return (value as Record<string, unknown>)[name];
  } catch {
    return undefined;
  }
}
