const MARKS = [
  { mark: [0xef, 0xbb, 0xbf], charset: 'utf-8' },
  { mark: [0xff, 0xfe], charset: 'utf-16le' },
  { mark: [0xfe, 0xff], charset: 'utf-16be' },
] as const;

/**
 * Body bytes as text: by their byte order mark, else by `charset`, else as UTF-8; the mark is no part of the text.
 * Undefined where the bytes are not valid in it, or nobody knows it.
 */
export function decodeText(bytes: Uint8Array, charset = 'utf-8'): string | undefined {
  const marked = MARKS.find(({ mark }) => mark.every((byte, index) => bytes[index] === byte));
  const label = marked?.charset ?? charset;
  try {
    return new TextDecoder(label, { fatal: true, ignoreBOM: true }).decode(bytes.subarray(marked?.mark.length ?? 0));
  } catch {
    return undefined;
  }
}
