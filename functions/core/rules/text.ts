const CONTROL_CHARACTERS = /(?![\t\n\r])\p{Cc}/gu;

const encoder = new TextEncoder();

/** UTF-8 size of a text in bytes. */
export const sizeInBytes = (text: string): number => encoder.encode(text).length;

/**
 * The text as it may travel in a property: control characters but tab and line breaks removed, lone surrogates replaced,
 * at most `maxBytes` of UTF-8, cut on a code point and marked with an ellipsis where it was cut.
 */
export function cut(text: string, maxBytes: number): string {
  // Work on a bounded prefix: an error message can hold megabytes.
  const clean = text
    .slice(0, maxBytes * 2 + 2)
    .toWellFormed()
    .replace(CONTROL_CHARACTERS, '');
  if (text.length <= maxBytes * 2 + 2 && sizeInBytes(clean) <= maxBytes) return clean;
  const budget = maxBytes - 3;
  let kept = '';
  let size = 0;
  for (const character of clean) {
    size += sizeInBytes(character);
    if (size > budget) break;
    kept += character;
  }
  return `${kept}…`;
}

/** The instant as ISO 8601 in UTC. */
export const iso = (utc: number): string => new Date(utc).toISOString();
