import { type Link, read, readText, unfold } from './error-chain.ts';
import type { PolicyRule } from './policy.ts';
import { bestRule } from './policy-rules.ts';
import { type RetryAfter, retryAfterOf } from './retry-after.ts';
import { statusOf } from './status.ts';
import { cut } from './text.ts';

/** What a failed attempt comes down to. */
export type Failure =
  | {
      readonly kind: 'transient';
      readonly code: string;
      readonly message: string;
      /** What the other side asked for. */
      readonly retryAfter: RetryAfter | undefined;
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
  TRANSIENT_CLIENT_STATUSES.has(status) || (status >= 500 && !PERMANENT_SERVER_STATUSES.has(status));

const MESSAGE_BYTES = 2_048;
const CODE_BYTES = 128;

/**
 * Says what a thrown value means. Total: it never throws, whatever it is given (frozen, cyclic, with getters that
 * throw, no error at all). Causes and aggregates are looked through; the most specific rule wins whatever its depth
 * and whatever the order of the rules: what the handler itself declared, then the policy's rules by code, by status, by
 * class, by predicate, then the defaults of design section 8. Among equals the outermost error wins, and among those at
 * one depth the one that forbids another attempt.
 */
export function classify(thrown: unknown, rules: readonly PolicyRule[] = []): Failure {
  const chain = unfold(thrown);
  return declared(chain) ?? byRules(chain, rules) ?? byDefault(chain) ?? unclassified(thrown);
}

/** `PermanentError` and `TransientError`, known by their mark: `instanceof` breaks across copies of a package. */
function declared(chain: readonly Link[]): Failure | undefined {
  return outermost(chain, (error) => {
    const mark = readText(error, 'code') === undefined ? undefined : read(error, 'failure');
    if (mark === 'permanent') return permanent(error, codeOf(error));
    return mark === 'transient' ? transient(error, chain) : undefined;
  });
}

function byRules(chain: readonly Link[], rules: readonly PolicyRule[]): Failure | undefined {
  const best = bestRule(chain, rules);
  if (!best) return undefined;
  const { error, rule } = best;
  return rule.is === 'transient' ? transient(error, chain) : permanent(error, rule.is.permanent);
}

/** Codes before statuses: a connection that broke while an error page was read is what happened last. */
function byDefault(chain: readonly Link[]): Failure | undefined {
  const known = chain.find(({ error }) => isTransientByName(error));
  if (known) return transient(known.error, chain);
  return outermost(chain, (error) => {
    const status = statusOf(error);
    if (status === undefined) return undefined;
    return isTransientStatus(status) ? transient(error, chain) : unclassified(error);
  });
}

function isTransientByName(error: unknown): boolean {
  const code = readText(error, 'code') ?? '';
  return (
    TRANSIENT_CODES.has(code) ||
    code.startsWith('UND_ERR_') ||
    read(error, 'number') === SQL_SERVER_DEADLOCK ||
    read(error, 'name') === 'TimeoutError' ||
    // Azure SDK errors say so themselves.
    read(error, 'retryable') === true
  );
}

/** The first failure found, but at its depth one that is not transient before one that is. */
function outermost(chain: readonly Link[], look: (error: unknown) => Failure | undefined): Failure | undefined {
  let best: { failure: Failure; depth: number } | undefined;
  for (const { error, depth } of chain) {
    if (best && (depth > best.depth || best.failure.kind !== 'transient')) break;
    const failure = look(error);
    if (failure && (!best || failure.kind !== 'transient')) best = { failure, depth };
  }
  return best?.failure;
}

const permanent = (error: unknown, reason: string): Failure => ({
  kind: 'permanent',
  reason,
  code: codeOf(error),
  message: messageOf(error),
});

/** `Retry-After` counts wherever in the chain it stands: a wrapper seldom repeats it. */
const transient = (error: unknown, chain: readonly Link[]): Failure => ({
  kind: 'transient',
  code: codeOf(error),
  message: messageOf(error),
  retryAfter: [error, ...chain.map((link) => link.error)].map(retryAfterOf).find((found) => found !== undefined),
});

const unclassified = (error: unknown): Failure => ({
  kind: 'unclassified',
  code: codeOf(error),
  message: messageOf(error),
});

/** A short name for the error: its code, else `Http<status>`, else its name, else its type. */
function codeOf(error: unknown): string {
  const status = statusOf(error);
  const found = readText(error, 'code') ?? (status === undefined ? readText(error, 'name') : `Http${status}`);
  return cut(found ?? typeof error, CODE_BYTES);
}

function messageOf(error: unknown): string {
  const message = read(error, 'message');
  if (typeof message === 'string') return cut(message, MESSAGE_BYTES);
  try {
    return cut(typeof error === 'object' ? JSON.stringify(error) : String(error), MESSAGE_BYTES);
  } catch {
    return 'an error that cannot be read';
  }
}
