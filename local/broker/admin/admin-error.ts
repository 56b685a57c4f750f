/** A request that the management API refuses; `detail` reaches the caller. */
export class AdminError extends Error {
  override readonly name = 'AdminError';
  readonly status: 400 | 403 | 404 | 405 | 409 | 413;

  constructor(status: AdminError['status'], detail: string) {
    super(detail);
    this.status = status;
  }
}

export function notFound(path: string): AdminError {
  return new AdminError(404, `The messaging entity '${path}' could not be found.`);
}

/** The subcode is how a client tells a name that is taken from an operation that got in another's way. */
export function alreadyExists(path: string): AdminError {
  return new AdminError(409, `SubCode=40900. Conflict. The messaging entity '${path}' already exists.`);
}
