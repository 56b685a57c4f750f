import { describe, expect, it } from 'vitest';
import { decodeText } from '../../../functions/core/rules/body-text.ts';

const utf8 = (text: string) => Buffer.from(text, 'utf8');
const utf16 = (text: string) => Buffer.from(text, 'utf16le');
const utf16be = (text: string) => utf16(text).swap16();

describe('the text of a body', () => {
  it.each<[string, Uint8Array, string | undefined]>([
    ['UTF-8', utf8('ü€😀'), undefined],
    ['UTF-8 after its mark', utf8('\ufeffü€😀'), undefined],
    ['UTF-8 after its mark, whatever the charset says', utf8('\ufeffü€😀'), 'utf-16'],
    ['UTF-16, little end first, after its mark', utf16('\ufeffü€😀'), undefined],
    ['UTF-16, big end first, after its mark', utf16be('\ufeffü€😀'), 'utf-8'],
    ['UTF-16 by its charset', utf16('ü€😀'), 'utf-16'],
    ['UTF-16, big end first, by its charset', utf16be('ü€😀'), 'utf-16be'],
  ])('is read as %s', (_, bytes, charset) => {
    expect(decodeText(bytes, charset)).toBe('ü€😀');
  });

  it('is read in the charset of western Europe', () => {
    expect(decodeText(Uint8Array.of(0x67, 0xfc), 'iso-8859-1')).toBe('gü');
  });

  it('loses one mark only', () => {
    expect(decodeText(utf8('\ufeff\ufeffa'))).toBe('\ufeffa');
  });

  it.each([[''], ['\ufeff']])('may be empty: %j', (text) => {
    expect(decodeText(utf8(text))).toBe('');
  });

  it.each<[string, Uint8Array, string | undefined]>([
    ['is not valid UTF-8', Uint8Array.of(0x61, 0xff), undefined],
    ['is half a code point', utf8('€').subarray(0, 2), undefined],
    ['is half a mark', Uint8Array.of(0xef, 0xbb), undefined],
    ['is half a unit of UTF-16', utf16('ab').subarray(0, 3), 'utf-16'],
    ['is in a charset that nobody knows', utf8('a'), 'utf-7'],
  ])('is none where it %s', (_, bytes, charset) => {
    expect(decodeText(bytes, charset)).toBeUndefined();
  });
});
