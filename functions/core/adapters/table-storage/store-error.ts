import { LedgerError, type LedgerErrorCode } from '../../pipeline/ports.ts';

/** What the SDK's errors may carry; matched by shape, because `instanceof` breaks across copies of a package. */
interface ErrorShape {
  readonly name?: string;
  readonly message?: string;
  readonly code?: string;
  readonly statusCode?: number;
  readonly details?: { readonly odataError?: { readonly code?: string } };
  readonly response?: { readonly headers: { get(name: string): string | undefined } };
}

const shapeOf = (error: unknown): ErrorShape => (typeof error === 'object' && error !== null ? error : {});

/** HTTP status of the store's answer; absent where there was none. */
const statusOf = (error: unknown): number | undefined => shapeOf(error).statusCode;

/** The service's own code, such as `TableNotFound`, else the SDK's or the socket's. */
export function serviceCodeOf(error: unknown): string | undefined {
  const { details, code } = shapeOf(error);
  return details?.odataError?.code ?? code;
}

/** Whether the connection failed before an answer came: it may or may not have been carried out. */
export const isConnectionFault = (error: unknown): boolean =>
  shapeOf(error).name === 'RestError' && statusOf(error) === undefined;

/** Whether an insert was refused because there is one. */
export const isTaken = (error: unknown): boolean =>
  statusOf(error) === 409 && serviceCodeOf(error) === 'EntityAlreadyExists';

/** Whether there is no such entity. A missing table is a fault and not an answer. */
export const isMissing = (error: unknown): boolean =>
  statusOf(error) === 404 && serviceCodeOf(error) === 'ResourceNotFound';

/** Whether a fenced write was refused because the entity has changed or is gone. */
export const isOvertaken = (error: unknown): boolean => statusOf(error) === 412 || isMissing(error);

/** Translates what the SDK throws, once, into what the pipeline knows. @param what the operation, for the message */
export function toLedgerError(error: unknown, what: string): LedgerError {
  if (shapeOf(error).name === 'LedgerError') return error as LedgerError;
  const status = statusOf(error);
  const code = serviceCodeOf(error);
  const retryAfterInMs = retryAfterOf(error);
  const said = [status, code].filter((part) => part !== undefined).join(' ') || firstLine(shapeOf(error).message);
  const message = `the ledger did not ${what}: ${said || String(error)}`;
  return new LedgerError(codeOf(error, status), message, {
    cause: error,
    ...(retryAfterInMs === undefined ? {} : { retryAfterInMs }),
  });
}

function codeOf(error: unknown, status: number | undefined): LedgerErrorCode {
  // 503 is how Table Storage says that a partition or the account is over its rate ("ServerBusy").
  if (status === 429 || status === 503) return 'throttled';
  if (status === 401 || status === 403) return 'forbidden';
  const { name } = shapeOf(error);
  if (name === 'CredentialUnavailableError' || name === 'AuthenticationRequiredError') return 'forbidden';
  // The token service refuses a wrong client or tenant with 400.
  if (name === 'AuthenticationError' && status !== undefined && status < 500) return 'forbidden';
  return 'unavailable';
}

/** `Retry-After` of the answer, in milliseconds: whole seconds or a date, which is relative to the answer's own. */
function retryAfterOf(error: unknown): number | undefined {
  const headers = shapeOf(error).response?.headers;
  const written = headers?.get('retry-after');
  if (!headers || !written) return undefined;
  const seconds = Number(written);
  const ms = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(written) - Date.parse(headers.get('date') ?? '');
  return Number.isFinite(ms) && ms >= 0 ? ms : undefined;
}

const firstLine = (text: string | undefined): string => text?.split('\n', 1)[0] ?? '';
