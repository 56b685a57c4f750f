import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cut, iso, parseIso, sizeInBytes } from '../../../functions/core/rules/text.ts';

const anyText = fc.string({ unit: 'binary', maxLength: 200 });

describe('cut', () => {
  it.each([
    ['a text that fits, as it is', 'abc', 3, 'abc'],
    ['the empty text', '', 0, ''],
    ['the end, marked with an ellipsis', 'abcdefgh', 6, 'abc…'],
    ['on a code point of four bytes', '😀😀', 7, '😀…'],
    ['on a code point of three bytes', '€€€', 8, '€…'],
    ['on a code point of two bytes', 'üüü', 5, 'ü…'],
    ['a code point that just fits with the ellipsis', 'üüüü', 7, 'üü…'],
    ['without an ellipsis where there is no room for one', 'abc', 2, 'ab'],
    ['to the ellipsis alone where only that has room', 'abcd', 3, '…'],
    ['everything where there is no room at all', 'abc', 0, ''],
    ['everything at a bound that is no number', 'abc', Number.NaN, ''],
    ['everything at a negative bound', 'abc', -5, ''],
    ['nothing at no bound', 'abc', Number.POSITIVE_INFINITY, 'abc'],
  ])('cuts %s', (_, text, maxBytes, expected) => {
    expect(cut(text, maxBytes)).toBe(expected);
  });

  it('removes control characters but keeps tab and line breaks', () => {
    expect(cut('a\u0000b\u0007c\td\r\ne\u007f\u0085f', 100)).toBe('abc\td\r\nef');
  });

  it('keeps the text that follows more control characters than there is room for', () => {
    expect(cut(`${'\u0000'.repeat(10_000)}the reason`, 100)).toBe('the reason');
  });

  it('replaces lone surrogates, which have no UTF-8', () => {
    expect(cut('a\ud800b\udc00', 100)).toBe('a\ufffdb\ufffd');
  });

  it('counts the bytes at the edges of each length of UTF-8', () => {
    for (const character of ['\u0020', '\u007e', '\u00a0', '\u07ff', '\u0800', '\uffff', '\u{10000}', '\u{10ffff}']) {
      const size = sizeInBytes(character);
      expect(cut(character, size)).toBe(character);
      expect(cut(character, size - 1)).toBe(size - 1 >= 3 ? '…' : '');
    }
  });

  it('never exceeds its bytes, splits no code point and keeps a prefix, whatever the text', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 0, max: 120 }), (text, maxBytes) => {
        const kept = cut(text, maxBytes);
        expect(sizeInBytes(kept)).toBeLessThanOrEqual(maxBytes);
        expect(kept.isWellFormed()).toBe(true);
        const whole = cut(text, Number.POSITIVE_INFINITY);
        expect(kept === whole || whole.startsWith(kept.replace(/…$/, ''))).toBe(true);
        // Cutting a cut changes nothing.
        expect(cut(kept, maxBytes)).toBe(kept);
      }),
    );
  });
});

describe('iso', () => {
  it.each([
    [1_767_603_600_123, '2026-01-05T09:00:00.123Z'],
    [Number.POSITIVE_INFINITY, '9999-12-31T23:59:59.999Z'],
    [Number.NEGATIVE_INFINITY, '0001-01-01T00:00:00.000Z'],
    [Number.NaN, '1970-01-01T00:00:00.000Z'],
    [1e300, '9999-12-31T23:59:59.999Z'],
  ])('writes %d as %s', (utc, expected) => {
    expect(iso(utc)).toBe(expected);
  });
});

describe('parseIso', () => {
  it.each([
    ['2026-01-05T09:00:00.123Z', 1_767_603_600_123],
    ['2026-01-05T09:00:00Z', 1_767_603_600_000],
    ['2026-01-05T09:00:00.1234567Z', 1_767_603_600_123],
    ['2026-01-05T10:00:00+01:00', 1_767_603_600_000],
  ])('reads %s', (text, expected) => {
    expect(parseIso(text)).toBe(expected);
  });

  it.each([
    '',
    'tomorrow 1',
    '2026-01-05',
    '2026-01-05T09:00:00',
    '2026-13-05T09:00:00Z',
    'x2026-01-05T09:00:00Z',
    '2026-01-05T09:00:00Zx',
    '2026-01-05T09:00:00.Z',
  ])('does not guess at %j', (text) => {
    expect(parseIso(text)).toBeUndefined();
  });

  it('reads what iso writes', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }),
        (utc) => parseIso(iso(utc)) === utc,
      ),
    );
  });
});
