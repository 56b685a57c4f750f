import { decodeText } from './body-text.ts';
import { unwrapBinary, unwrapXml } from './data-contract.ts';
import type { Delivery } from './delivery.ts';
import { parseJson } from './exact-number.ts';
import type { Failure } from './failure.ts';
import { readMediaType } from './media-type.ts';

/** The value in a body, or why there is none. */
export type ReadBody =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'malformed'; readonly failure: Failure };

/** What of a delivery its body is read by. A `Content-Encoding` among the properties counts where the field is absent. */
export type BodySource = Pick<Delivery, 'body' | 'contentType' | 'contentEncoding'> &
  Partial<Pick<Delivery, 'properties'>>;

/** The content codings that can be undone. */
export type Compression = 'gzip' | 'deflate' | 'br';

/**
 * Decompresses.
 *
 * @throws where the bytes are not in that format or become more than `maxBytes`
 */
export type Inflate = (compression: Compression, bytes: Uint8Array, maxBytes: number) => Uint8Array;

/** No body may become larger by decompression: a few kilobytes can unfold to gigabytes. */
export const LARGEST_BODY_BYTES = 16 * 1_024 * 1_024;

/**
 * Body bytes to value: encodings undone, .NET envelopes opened, then by media type: JSON for `application/json`, `+json`
 * and no content type, text for `text/*`. UTF-8 unless a byte order mark or the charset says otherwise. Numbers that a
 * double cannot hold become an `ExactNumber`. An AMQP value that is neither text nor bytes is handed on as it is. Anything
 * else is malformed; the handler never sees it. No message shows any of the body.
 *
 * @param inflate without it, compressed bodies are malformed
 */
export function readBody({ body, contentType, contentEncoding, properties }: BodySource, inflate?: Inflate): ReadBody {
  if (body.kind === 'absent') return malformed('the message has no body');
  if (body.kind === 'unreadable') return malformed(body.problem);
  if (body.kind !== 'data' && body.bytes === undefined) return { kind: 'value', value: body.value };
  const { reading, charset } = readMediaType(contentType);
  if (!reading) return unsupported(contentType);
  const encoding = contentEncoding ?? encodingIn(properties) ?? '';
  let bytes: Uint8Array;
  try {
    bytes = undo(encoding, body.bytes as Uint8Array, inflate);
  } catch (error) {
    return malformed(`content encoding ${JSON.stringify(encoding)}: ${(error as Error).message}`);
  }
  const enveloped = unwrapBinary(bytes);
  // AMQP text is UTF-8 whatever the charset says.
  const text = decodeText(enveloped ?? bytes, 'value' in body && typeof body.value === 'string' ? 'utf-8' : charset);
  if (text === undefined) return malformed(`the body is not valid ${charset ?? 'UTF-8'}`);
  if (reading === 'text') return { kind: 'value', value: text };
  const content = unwrapXml(text) ?? (reading === 'json' || enveloped ? text : undefined);
  return content === undefined ? unsupported(contentType) : json(content);
}

function json(text: string): ReadBody {
  if (text.trim() === '') return malformed('the body is empty');
  try {
    return { kind: 'value', value: parseJson(text) };
  } catch (error) {
    return malformed(`the body is not JSON: ${withoutExcerpt((error as Error).message)}`);
  }
}

/** The engine's message without the piece of the body that it quotes: a body can hold anything, secrets too. */
const withoutExcerpt = (message: string): string =>
  message.replace(/(?:, |^)(?:\.{3})?".*"(?:\.{3})? is not valid JSON$/s, '') || 'no value';

const NO_ENCODING: ReadonlySet<string> = new Set([
  '',
  'identity',
  'utf-8',
  'utf8',
  'us-ascii',
  '7bit',
  '8bit',
  'binary',
]);
const COMPRESSIONS: ReadonlyMap<string, Compression> = new Map([
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
  ['br', 'br'],
]);
/** Nobody needs more, and each takes time. */
const MOST_ENCODINGS = 4;

/** Undoes the encodings that a header lists in the order in which they were applied. */
function undo(encoding: string, bytes: Uint8Array, inflate: Inflate | undefined): Uint8Array {
  const names = encoding
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
  if (names.length > MOST_ENCODINGS) throw new Error(`more than ${MOST_ENCODINGS}`);
  let plain = bytes;
  for (const name of names.reverse()) {
    if (NO_ENCODING.has(name)) continue;
    const compression = COMPRESSIONS.get(name);
    if (name === 'base64') plain = Buffer.from(Buffer.from(plain).toString('latin1'), 'base64');
    else if (compression && inflate) plain = inflate(compression, plain, LARGEST_BODY_BYTES);
    else throw new Error('not supported');
  }
  return plain;
}

function encodingIn(properties: Delivery['properties'] | undefined): string | undefined {
  for (const [name, { value }] of properties ?? []) {
    if (/^content-?encoding$/i.test(name) && typeof value === 'string') return value;
  }
  return undefined;
}

const unsupported = (contentType: string | undefined): ReadBody =>
  malformed(`content type ${JSON.stringify(contentType)} is not supported: expected JSON or text`);

const malformed = (message: string): ReadBody => ({
  kind: 'malformed',
  failure: { kind: 'permanent', reason: 'MalformedBody', code: 'MalformedBody', message },
});
