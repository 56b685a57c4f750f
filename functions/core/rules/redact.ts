import { cut } from './text.ts';

/** What a secret is replaced by. */
const REDACTED = '[redacted]';

/** Names whose value is secret in `name=value`, `"name": "value"` and header lines. */
const SECRET_NAMES = [
  'sharedaccesskey',
  'sharedaccesssignature',
  'sharedsecretvalue',
  'accountkey',
  'access[-_]?key',
  'primary[-_]?key',
  'secondary[-_]?key',
  'api[-_]?key',
  'x-functions-key',
  'subscription-key',
  'instrumentationkey',
  'access[-_]?token',
  'refresh[-_]?token',
  'id[-_]?token',
  'sas[-_]?token',
  'client[-_]?secret',
  'client[-_]?assertion',
  'secret',
  'sig',
  'password',
  'passwd',
  'pwd',
].join('|');

/** Words that follow `Bearer` where a text speaks of tokens instead of holding one. */
const NO_TOKENS = 'tokens?|auth\\w*|scheme|challenge|error|realm';

/** A field of a connection string: a password may hold blanks where a semicolon ends it. Matches the rest of a line. */
const PASSWORD_FIELD = /(\b(?:password|pwd)\s*=\s*)[^;\r\n"']+(;?)/gi;

/**
 * What is secret by default, each with what it keeps as its first group. Every pattern takes linear time, and leaves
 * alone what it has redacted itself.
 */
const DEFAULTS: readonly RegExp[] = [
  // Connection strings and query strings.
  new RegExp(`((?<![a-z])(?:${SECRET_NAMES})\\s*=\\s*)(?!\\[redacted\\])(?:"[^"]*"|'[^']*'|[^\\s;&"'<>]+)`, 'gi'),
  // JSON, as it is and inside another string, and header lines.
  new RegExp(`((?<![a-z])(?:${SECRET_NAMES})\\\\?["']\\s*:\\s*\\\\?["'])(?!\\[redacted\\])[^"'\\\\]+`, 'gi'),
  /((?<![a-z])(?:api-key|x-functions-key|subscription-key)\s*:\s*)(?!\[redacted\])[^\s"',;]+/gi,
  /(\bauthorization\\?["']?\s*[:=]\s*\\?["']?(?:basic|digest|negotiate)\s+)(?!\[redacted\])[^\s"',;\\]+/gi,
  new RegExp(`(\\bbearer\\s+)(?!\\[redacted\\]|(?:${NO_TOKENS})\\b)[^\\s"',;\\\\<>]+`, 'gi'),
  // JSON web tokens wherever they stand, and passwords in addresses.
  /()(?<![\w-])eyJ[\w-]{5,}\.[\w-]+(?:\.[\w-]*)*/g,
  /(\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s:/@]{0,100}:)(?!\[redacted\])[^\s/@]+(?=@)/gi,
];

/** Without one of these no default pattern can match; most texts have none, and need not be searched for each. */
const MAY_HOLD_SECRETS = /[=:]|bearer|eyJ/i;

/**
 * The text without secrets: connection strings' keys and passwords, SAS signatures, bearer tokens, and whatever else
 * `patterns` match, which is redacted whole. Redacting twice changes nothing more.
 *
 * @param patterns the policy's own, in addition to the defaults
 */
export function redact(text: string, patterns: readonly RegExp[] = []): string {
  let clean = text.replace(PASSWORD_FIELD, (field, name, end) => (end === '' ? field : `${name}${REDACTED}${end}`));
  for (const pattern of MAY_HOLD_SECRETS.test(text) ? DEFAULTS : []) clean = clean.replace(pattern, `$1${REDACTED}`);
  for (const { source, flags } of patterns) {
    // A copy of the pattern: `lastIndex` of a sticky or global one must not carry from text to text.
    const every = new RegExp(source, flags.includes('g') ? flags : `${flags}g`);
    clean = clean.replace(every, (match) => (match === '' ? '' : REDACTED));
  }
  return clean;
}

/** Far more than any text here may hold, and little enough that every pattern is quick. */
const LONGEST_BYTES = 8_192;

/** The text as it may leave: without secrets (the defaults), and cut to `maxBytes` after that. */
export const safeText = (text: string, maxBytes: number): string => cut(redact(cut(text, LONGEST_BYTES)), maxBytes);
