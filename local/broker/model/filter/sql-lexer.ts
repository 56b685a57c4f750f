/** A filter or an action that is not SQL, or uses a part of it that this broker does not know. */
export class SqlError extends Error {
  override readonly name = 'SqlError';
}

/** A piece of an expression. `text` of a word is as written; words are compared without regard to case. */
export type Token =
  | { readonly kind: 'word'; readonly text: string }
  | { readonly kind: 'identifier'; readonly text: string }
  | { readonly kind: 'string'; readonly text: string }
  | { readonly kind: 'number'; readonly value: number; readonly text: string }
  | { readonly kind: 'symbol'; readonly text: string }
  | { readonly kind: 'end'; readonly text: string };

const PATTERNS: readonly [RegExp, (text: string) => Token | undefined][] = [
  [/\s+|--[^\n]*/y, () => undefined],
  [/'(?:[^']|'')*'/y, (text) => ({ kind: 'string', text: text.slice(1, -1).replaceAll("''", "'") })],
  [/\[(?:[^\]]|\]\])*\]/y, (text) => ({ kind: 'identifier', text: text.slice(1, -1).replaceAll(']]', ']') })],
  [/"(?:[^"]|"")*"/y, (text) => ({ kind: 'identifier', text: text.slice(1, -1).replaceAll('""', '"') })],
  [/0x[\da-f]+/iy, (text) => ({ kind: 'number', value: Number(text), text })],
  [/(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?/iy, (text) => ({ kind: 'number', value: Number(text), text })],
  [/[A-Za-z_@#][\w@#$]*/y, (text) => ({ kind: 'word', text })],
  [/<>|<=|>=|!=|[=<>+\-*/%().,;]/y, (text) => ({ kind: 'symbol', text })],
];

/**
 * Cuts an expression into tokens.
 *
 * @throws SqlError at a character that starts none
 */
export function tokensOf(expression: string): Token[] {
  const tokens: Token[] = [];
  let offset = 0;
  while (offset < expression.length) {
    const { token, end } = tokenAt(expression, offset);
    if (token !== undefined) tokens.push(token);
    offset = end;
  }
  return [...tokens, { kind: 'end', text: 'the end' }];
}

function tokenAt(expression: string, offset: number): { token: Token | undefined; end: number } {
  for (const [pattern, make] of PATTERNS) {
    pattern.lastIndex = offset;
    const text = pattern.exec(expression)?.[0];
    if (text !== undefined) return { token: make(text), end: offset + text.length };
  }
  throw new SqlError(`Unexpected '${expression[offset]}' at character ${offset + 1} of: ${expression}`);
}
