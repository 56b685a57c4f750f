import { describe, expect, it } from 'vitest';
import { parseRetryAfter, retryAfterOf } from '../../../functions/core/rules/retry-after.ts';

const TEN_THOUSAND_YEARS_IN_MS = 315_360_000_000_000;

describe('a Retry-After header', () => {
  it.each([
    ['120', 120_000],
    [' 0 ', 0],
    ['1.25', 1_250],
    [2, 2_000],
    [0.0001, 1],
    [0, 0],
    ['9'.repeat(400), TEN_THOUSAND_YEARS_IN_MS],
    [Number.POSITIVE_INFINITY, TEN_THOUSAND_YEARS_IN_MS],
  ])('of %j is a number of seconds', (header, inMs) => {
    expect(parseRetryAfter(header)).toEqual({ inMs });
  });

  it.each([
    ['Mon, 05 Jan 2026 09:00:00 GMT', 1_767_603_600_000],
    [' Mon, 05 Jan 2026 09:00:00 GMT ', 1_767_603_600_000],
    ['Monday, 05-Jan-26 09:00:00 GMT', 1_767_603_600_000],
    ['Wednesday, 31-Dec-25 23:59:59 GMT', 1_767_225_599_000],
    ['Mon Jan  5 09:00:00 2026', 1_767_603_600_000],
    ['Wed Dec 31 23:59:59 2025', 1_767_225_599_000],
  ])('of %j is an HTTP date, in GMT whatever the zone of the machine', (header, utc) => {
    expect(parseRetryAfter(header)).toEqual({ utc });
  });

  it.each([
    '',
    'soon',
    '-1',
    -1,
    Number.NaN,
    '1e3',
    '1.',
    '1 2',
    'x1',
    '1x',
    'Mon, 05 Foo 2026 09:00:00 GMT',
    'Mon, 32 Jan 2026 09:00:00 GMT',
    'Mon, 05 Jan 2026 25:00:00 GMT',
    'Mon, 05 Jan 2026 09:00:00 CET',
    'x Mon, 05 Jan 2026 09:00:00 GMT',
    'Mon, 05 Jan 2026 09:00:00 GMT x',
    'x Monday, 05-Jan-26 09:00:00 GMT',
    'Monday, 05-Jan-26 09:00:00 GMT x',
    'x Mon Jan  5 09:00:00 2026',
    'Mon Jan  5 09:00:00 2026 x',
    '2026-01-05T09:00:00Z',
    'Sun 1',
    undefined,
    null,
    {},
    true,
    ['2'],
  ])('of %j says nothing', (header) => {
    expect(parseRetryAfter(header)).toBeUndefined();
  });
});

describe('what an error says about when to come back', () => {
  const headers = (entries: Record<string, string>) => new Headers(entries);

  it.each([
    ['our own milliseconds', { retryAfterInMs: 1_500, retryAfter: '9' }, { inMs: 1_500 }],
    ['none at all', { retryAfterInMs: 0 }, { inMs: 0 }],
    ['our own header', { retryAfter: '9', headers: { 'retry-after': '1' } }, { inMs: 9_000 }],
    ['the header of a plain response', { response: { headers: { 'retry-after': '7' } } }, { inMs: 7_000 }],
    ['the header in its usual spelling', { headers: { 'Retry-After': '7' } }, { inMs: 7_000 }],
    ['the header of a fetch response', { response: { headers: headers({ 'Retry-After': '7' }) } }, { inMs: 7_000 }],
    [
      'headers on the error itself first',
      { headers: { 'retry-after': '1' }, response: { headers: { 'retry-after': '2' } } },
      { inMs: 1_000 },
    ],
    [
      'milliseconds of Azure first',
      { headers: headers({ 'retry-after-ms': '250', 'Retry-After': '1' }) },
      { inMs: 250 },
    ],
    [
      'milliseconds of Azure in their other spelling',
      { headers: headers({ 'x-ms-retry-after-ms': '250' }) },
      { inMs: 250 },
    ],
    [
      'a date in a header',
      { headers: headers({ 'Retry-After': 'Mon, 05 Jan 2026 09:00:00 GMT' }) },
      { utc: 1_767_603_600_000 },
    ],
    [
      'seconds where the milliseconds make no sense',
      { headers: { 'retry-after-ms': 'soon', 'retry-after': '1' } },
      { inMs: 1_000 },
    ],
    ['the header where our own milliseconds make no sense', { retryAfterInMs: -1, retryAfter: '3' }, { inMs: 3_000 }],
    ['the header where our own milliseconds are a text', { retryAfterInMs: '5', retryAfter: '3' }, { inMs: 3_000 }],
    ['nothing where there is nothing', {}, undefined],
    [
      'nothing where headers cannot be asked',
      {
        headers: {
          get: () => {
            throw new Error('gone');
          },
        },
      },
      undefined,
    ],
    ['nothing of a number that is none', { retryAfterInMs: Number.NaN }, undefined],
  ])('is %s', (_, error, expected) => {
    expect(retryAfterOf(error)).toEqual(expected);
  });

  it('never goes beyond what a date can hold', () => {
    expect(retryAfterOf({ retryAfterInMs: 1e300 })).toEqual({ inMs: TEN_THOUSAND_YEARS_IN_MS });
  });
});
