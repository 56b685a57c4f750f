/** What an error must have to be a {@link PermanentError}, whichever copy of this package made it. */
export interface PermanentMark {
  readonly failure: 'permanent';
  readonly code: string;
}

/**
 * Never again: the message is dead-lettered at once with `code` as its reason.
 *
 * @example throw new PermanentError('UnsupportedCurrency', `the provider does not take ${currency}`);
 */
export class PermanentError extends Error implements PermanentMark {
  override readonly name = 'PermanentError';
  readonly failure = 'permanent';
  /** The reason code, PascalCase, under 64 characters. */
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Again later: a try, then a redelivery, as the policy says. `retryAfterInMs` is a floor for the delay, >= 0. */
export class TransientError extends Error {
  override readonly name = 'TransientError';
  readonly failure = 'transient';
  readonly code: string;
  readonly retryAfterInMs: number | undefined;

  constructor(message: string, options: ErrorOptions & { code?: string; retryAfterInMs?: number } = {}) {
    super(message, options);
    this.code = options.code ?? 'TransientError';
    this.retryAfterInMs = options.retryAfterInMs;
  }
}

/**
 * A response whose status is not a success. The classification decides by the status; `retryAfter` is the response's
 * `Retry-After` header as it came: seconds or an HTTP date.
 */
export class HttpStatusError extends Error {
  override readonly name = 'HttpStatusError';
  readonly status: number;
  readonly retryAfter: string | undefined;

  constructor(status: number, message: string, options: ErrorOptions & { retryAfter?: string | null } = {}) {
    super(message, options);
    this.status = status;
    this.retryAfter = options.retryAfter ?? undefined;
  }
}
