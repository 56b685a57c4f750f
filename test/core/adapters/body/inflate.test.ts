import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { inflate } from '../../../../functions/core/adapters/body/inflate.ts';

const text = '{"a":"ü"}'.repeat(100);
const plain = Buffer.from(text);

describe('decompression', () => {
  it.each([
    ['gzip', 'gzip', gzipSync(plain)],
    ['deflate with its header', 'deflate', deflateSync(plain)],
    ['deflate without it', 'deflate', deflateRawSync(plain)],
    ['brotli', 'br', brotliCompressSync(plain)],
  ] as const)('undoes %s', (_, compression, bytes) => {
    expect(Buffer.from(inflate(compression, bytes, plain.length)).toString()).toBe(text);
  });

  it.each([
    ['gzip', gzipSync(Buffer.alloc(1_000_000))],
    ['deflate', deflateSync(Buffer.alloc(1_000_000))],
    ['br', brotliCompressSync(Buffer.alloc(1_000_000))],
  ] as const)('refuses what becomes too large: %s', (compression, bytes) => {
    expect(() => inflate(compression, bytes, 999_999)).toThrow('the body becomes more than 999999 bytes');
    expect(inflate(compression, bytes, 1_000_000).length).toBe(1_000_000);
  });

  it.each(['gzip', 'deflate', 'br'] as const)('refuses what is not %s', (compression) => {
    expect(() => inflate(compression, Buffer.from('no such thing at all'), 1_000)).toThrow(
      `the body is not ${compression}`,
    );
    expect(() => inflate(compression, new Uint8Array(), 1_000)).toThrow(`the body is not ${compression}`);
  });

  it('refuses what is cut off', () => {
    expect(() => inflate('gzip', gzipSync(plain).subarray(0, 20), 10_000)).toThrow('the body is not gzip');
  });
});
