import { read } from './error-chain.ts';

/**
 * The HTTP status that an error carries, 400 to 599, under the names in use: on the error itself, on its `response`, or
 * in the `$metadata` of an SDK.
 */
export function statusOf(error: unknown): number | undefined {
  const response = read(error, 'response');
  const found = [
    read(error, 'status'),
    read(error, 'statusCode'),
    read(response, 'status'),
    read(response, 'statusCode'),
    read(read(error, '$metadata'), 'httpStatusCode'),
  ];
  return found.find(isErrorStatus);
}

const isErrorStatus = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 400 && value <= 599;
