/** How a body is to be read: `xml` only where it is a .NET envelope around something else. */
export type Reading = 'json' | 'text' | 'xml';

/** What a content type says; `reading` is undefined where nothing here can read it. */
export interface MediaType {
  readonly reading: Reading | undefined;
  /** The `charset` parameter in lower case. */
  readonly charset: string | undefined;
}

/** Reads a content type, names in any case, parameters in any order (RFC 9110, section 8.3.1). None means JSON. */
export function readMediaType(contentType: string | undefined): MediaType {
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  const charset = parameters
    .map((parameter) => /^\s*charset\s*=\s*"?([^"\s]+)"?\s*$/.exec(parameter)?.[1])
    .find((found) => found !== undefined);
  return { reading: readingOf(type.trim()), charset };
}

function readingOf(type: string): Reading | undefined {
  if (type === '' || type === 'application/json' || type === 'text/json' || type.endsWith('+json')) return 'json';
  if (type === 'application/xml' || type === 'text/xml') return 'xml';
  return type.startsWith('text/') ? 'text' : undefined;
}
