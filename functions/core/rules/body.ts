import type { Delivery } from './delivery.ts';
import type { Failure } from './failure.ts';

/** The value in a body, or why there is none. */
export type ReadBody =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'malformed'; readonly failure: Failure };

const BYTE_ORDER_MARK = '\ufeff';

/**
 * Body bytes to value by media type: JSON for `application/json`, `+json` and no content type, text for `text/*`. UTF-8,
 * with or without a byte order mark. Anything else is malformed; the handler never sees it.
 */
export function readBody({
  body,
  contentType,
  contentEncoding,
}: Pick<Delivery, 'body' | 'contentType' | 'contentEncoding'>): ReadBody {
  if (body.kind === 'absent') return malformed('the message has no body');
  if (body.bytes === undefined) return malformed(`the body is an AMQP ${body.kind}: expected data, text or bytes`);
  if (
    contentEncoding !== undefined &&
    contentEncoding.toLowerCase() !== 'identity' &&
    contentEncoding.toLowerCase() !== 'utf-8'
  ) {
    return malformed(`content encoding ${JSON.stringify(contentEncoding)} is not supported`);
  }
  const mediaType = (contentType ?? 'application/json').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const isText = mediaType.startsWith('text/');
  if (!isText && mediaType !== '' && mediaType !== 'application/json' && !mediaType.endsWith('+json')) {
    return malformed(`content type ${JSON.stringify(contentType)} is not supported: expected JSON or text`);
  }
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body.bytes);
  } catch {
    return malformed('the body is not UTF-8');
  }
  if (text.startsWith(BYTE_ORDER_MARK)) text = text.slice(1);
  if (isText) return { kind: 'value', value: text };
  try {
    return { kind: 'value', value: JSON.parse(text) };
  } catch (error) {
    return malformed(`the body is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const malformed = (message: string): ReadBody => ({
  kind: 'malformed',
  failure: { kind: 'permanent', reason: 'MalformedBody', code: 'MalformedBody', message },
});
