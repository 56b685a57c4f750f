const CONTROL_CHARACTER = /(?![\t\n\r])\p{Cc}/u;
const ELLIPSIS = '…';
const ELLIPSIS_BYTES = 3;

/** UTF-8 size of a text in bytes; a lone surrogate counts as the replacement character that it becomes. */
export const sizeInBytes = (text: string): number => Buffer.byteLength(text);

/**
 * The text as it may travel in a property: control characters but tab and line breaks removed, lone surrogates replaced,
 * at most `maxBytes` of UTF-8, cut on a code point and marked with an ellipsis where it was cut and there is room for
 * one. Reads no further than it keeps: an error message can hold megabytes.
 */
export function cut(text: string, maxBytes: number): string {
  if (isFit(text, maxBytes)) return text;
  let kept = '';
  let size = 0;
  let beforeEllipsis = '';
  for (const character of text) {
    if (CONTROL_CHARACTER.test(character)) continue;
    size += sizeOfCodePoint(character);
    if (!(size <= maxBytes)) return maxBytes >= ELLIPSIS_BYTES ? beforeEllipsis + ELLIPSIS : kept;
    kept += character.toWellFormed();
    if (size <= maxBytes - ELLIPSIS_BYTES) beforeEllipsis = kept;
  }
  return kept;
}

/** Whether nothing is to be done, as for most texts: no character takes less than a byte, so a long one is not read. */
const isFit = (text: string, maxBytes: number): boolean =>
  text.length <= maxBytes && sizeInBytes(text) <= maxBytes && text.isWellFormed() && !CONTROL_CHARACTER.test(text);

/** UTF-8 size of one code point; a lone surrogate counts as the replacement character that it becomes. */
function sizeOfCodePoint(character: string): number {
  if (character.length > 1) return 4;
  if (character < '\u0080') return 1;
  return character < '\u0800' ? 2 : 3;
}

/** The instants that .NET's DateTime, and so the broker and most of its tools, can hold: years 1 to 9999. */
const EARLIEST_UTC = Date.parse('0001-01-01T00:00:00.000Z');
const LATEST_UTC = Date.parse('9999-12-31T23:59:59.999Z');

/** The instant as ISO 8601 in UTC, within the years 1 to 9999. Total: what is no number is written as the epoch. */
export const iso = (utc: number): string =>
  new Date(Number.isNaN(utc) ? 0 : Math.min(Math.max(utc, EARLIEST_UTC), LATEST_UTC)).toISOString();

const ISO_INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

/** An ISO 8601 instant with its zone, as epoch ms; undefined for anything else, which Date.parse would guess at. */
export function parseIso(text: string): number | undefined {
  const utc = ISO_INSTANT.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(utc) ? undefined : utc;
}
