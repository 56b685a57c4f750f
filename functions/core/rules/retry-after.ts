import { read } from './error-chain.ts';

/** What the other side asked for: ms from now, or an instant. */
export type RetryAfter = { readonly inMs: number } | { readonly utc: number };

/** Ten thousand years: whatever asks for more is taken as asking for this, so that every sum stays a date. */
const LONGEST_IN_MS = 10_000 * 365 * 24 * 3_600_000;

/**
 * What an error says about when to come back: milliseconds of our own and Azure's errors, else the response's headers,
 * on the error or on its `response`.
 */
export function retryAfterOf(error: unknown): RetryAfter | undefined {
  const asked = read(error, 'retryAfterInMs');
  if (typeof asked === 'number' && asked >= 0) return inMs(asked);
  const own = parseRetryAfter(read(error, 'retryAfter'));
  if (own) return own;
  for (const headers of [read(error, 'headers'), read(read(error, 'response'), 'headers')]) {
    const milliseconds = numberIn(header(headers, 'retry-after-ms') ?? header(headers, 'x-ms-retry-after-ms'));
    if (milliseconds !== undefined) return inMs(milliseconds);
    const found = parseRetryAfter(header(headers, 'retry-after') ?? header(headers, 'Retry-After'));
    if (found) return found;
  }
  return undefined;
}

/** A header of `Headers`, which know it in any case, or of a plain object. */
function header(headers: unknown, name: string): unknown {
  if (typeof read(headers, 'get') !== 'function') return read(headers, name);
  try {
    return (headers as { get(name: string): unknown }).get(name) ?? undefined;
  } catch {
    return undefined;
  }
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const TIME = String.raw`(?<time>\d\d:\d\d:\d\d)`;
/** The three forms of RFC 9110, section 5.6.7; the second and the third are obsolete but must be read. */
const HTTP_DATES = [
  new RegExp(`^[A-Z][a-z]{2}, (?<day>\\d\\d) (?<month>[A-Z][a-z]{2}) (?<year>\\d{4}) ${TIME} GMT$`),
  new RegExp(`^[A-Z][a-z]{5,8}, (?<day>\\d\\d)-(?<month>[A-Z][a-z]{2})-(?<year>\\d\\d) ${TIME} GMT$`),
  new RegExp(`^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \\d]\\d) ${TIME} (?<year>\\d{4})$`),
];

/**
 * RFC 9110, section 10.2.3: a number of seconds, or an HTTP date. A fraction of a second is read though the RFC has
 * none. Anything else says nothing.
 */
export function parseRetryAfter(header: unknown): RetryAfter | undefined {
  const seconds = numberIn(header);
  if (seconds !== undefined) return inMs(seconds * 1_000);
  const utc = typeof header === 'string' ? parseHttpDate(header.trim()) : undefined;
  return utc === undefined ? undefined : { utc };
}

const inMs = (milliseconds: number): RetryAfter => ({ inMs: Math.min(Math.ceil(milliseconds), LONGEST_IN_MS) });

/** A number >= 0, as it is or in decimal digits. */
function numberIn(value: unknown): number | undefined {
  if (typeof value === 'number') return value >= 0 ? value : undefined;
  return typeof value === 'string' && /^\d+(\.\d+)?$/.test(value.trim()) ? Number(value) : undefined;
}

function parseHttpDate(text: string): number | undefined {
  for (const form of HTTP_DATES) {
    const found = form.exec(text)?.groups as Record<'day' | 'month' | 'year' | 'time', string> | undefined;
    if (!found) continue;
    const month = two(MONTHS.indexOf(found.month) + 1);
    // Month 00 is none, and so no date.
    const utc = Date.parse(`${found.year.padStart(4, '20')}-${month}-${two(found.day.trim())}T${found.time}Z`);
    return Number.isNaN(utc) ? undefined : utc;
  }
  return undefined;
}

const two = (part: string | number): string => String(part).padStart(2, '0');
