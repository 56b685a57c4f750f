/** What an AMQP address names. */
export type Address =
  | { readonly kind: 'cbs' }
  | { readonly kind: 'management'; readonly path: string }
  | { readonly kind: 'entity'; readonly path: string };

/** Reads a link's address; a scheme with a host, and slashes at either end, do not count. */
export function parseAddress(text: string): Address {
  const path = text.replace(/^[a-z]+:\/\/[^/]*/i, '').replace(/^\/+|\/+$/g, '');
  if (path.toLowerCase() === '$cbs') return { kind: 'cbs' };
  const management = /^(.*)\/\$management$/i.exec(path);
  return management === null ? { kind: 'entity', path } : { kind: 'management', path: management[1] ?? '' };
}
