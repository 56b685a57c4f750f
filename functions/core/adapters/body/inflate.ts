import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import type { Compression, Inflate } from '../../rules/body.ts';

/**
 * Decompresses in place: a body is small, and `maxBytes` bounds the time as well. `deflate` is read with and without
 * the zlib header, because senders disagree about what it means (RFC 9110, section 8.4.1.2).
 *
 * @throws where the bytes are not in that format, or become more than `maxBytes`
 */
export const inflate: Inflate = (compression, bytes, maxBytes) => {
  const options = { maxOutputLength: maxBytes };
  try {
    switch (compression) {
      case 'gzip':
        return gunzipSync(bytes, options);
      case 'br':
        return brotliDecompressSync(bytes, options);
      case 'deflate':
        return hasZlibHeader(bytes) ? inflateSync(bytes, options) : inflateRawSync(bytes, options);
    }
  } catch (cause) {
    throw new Error(reasonOf(compression, cause, maxBytes), { cause });
  }
};

/** RFC 1950, section 2.2: method 8, and a first pair of bytes that 31 divides. */
const hasZlibHeader = ([first = 0, second = 0]: Uint8Array): boolean =>
  (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0;

const reasonOf = (compression: Compression, cause: unknown, maxBytes: number): string =>
  (cause as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE'
    ? `the body becomes more than ${maxBytes} bytes`
    : `the body is not ${compression}`;
