/** Whatever was thrown, as an `Error`: apps throw strings and plain objects too. */
export function toError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  if (thrown === undefined || thrown === null) return new Error('Unknown error');
  return new Error(typeof thrown === 'object' ? JSON.stringify(thrown) : String(thrown));
}
