import { describe, expect, it } from 'vitest';
import { HttpStatusError, PermanentError, TransientError } from '../../../functions/core/rules/errors.ts';

const fieldsOf = (error: Error) => ({ ...error, message: error.message, cause: error.cause });

describe('what a handler may throw', () => {
  const cause = new Error('inner');

  it('a permanent error carries its reason code', () => {
    const error = new PermanentError('UnsupportedCurrency', 'XXX is not taken', { cause });
    expect(error).toBeInstanceOf(Error);
    expect(fieldsOf(error)).toEqual({
      name: 'PermanentError',
      failure: 'permanent',
      code: 'UnsupportedCurrency',
      message: 'XXX is not taken',
      cause,
    });
  });

  it('a transient error carries a floor for the delay', () => {
    expect(fieldsOf(new TransientError('busy', { code: 'Busy', retryAfterInMs: 5_000, cause }))).toEqual({
      name: 'TransientError',
      failure: 'transient',
      code: 'Busy',
      retryAfterInMs: 5_000,
      message: 'busy',
      cause,
    });
  });

  it('a transient error needs no more than a message', () => {
    expect(fieldsOf(new TransientError('busy'))).toEqual({
      name: 'TransientError',
      failure: 'transient',
      code: 'TransientError',
      retryAfterInMs: undefined,
      message: 'busy',
      cause: undefined,
    });
  });

  it('a status error carries the header as it came, and none where the response has none', () => {
    const fields = { name: 'HttpStatusError', status: 429, message: 'too many', cause: undefined };
    expect(fieldsOf(new HttpStatusError(429, 'too many', { retryAfter: '2' }))).toEqual({ ...fields, retryAfter: '2' });
    expect(fieldsOf(new HttpStatusError(429, 'too many', { retryAfter: null }))).toEqual({
      ...fields,
      retryAfter: undefined,
    });
    expect(fieldsOf(new HttpStatusError(429, 'too many', { cause }))).toEqual({
      ...fields,
      retryAfter: undefined,
      cause,
    });
    expect(fieldsOf(new HttpStatusError(429, 'too many'))).toEqual({ ...fields, retryAfter: undefined });
  });
});
