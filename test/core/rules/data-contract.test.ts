import { describe, expect, it } from 'vitest';
import { unwrapBinary, unwrapXml } from '../../../functions/core/rules/data-contract.ts';

const NAMESPACE = 'http://schemas.microsoft.com/2003/10/Serialization/';
/** The header as the serializer writes it: element, type, xmlns, namespace of 51 characters. */
const header = (type: string) =>
  Buffer.from(`\x40${String.fromCharCode(type.length)}${type}\x083${NAMESPACE}`, 'latin1');
const record = (code: number, length: readonly number[], content: Uint8Array | string) =>
  Buffer.concat([Uint8Array.of(code, ...length), typeof content === 'string' ? Buffer.from(content) : content]);
const binary = (type: string, ...records: Uint8Array[]) => Buffer.concat([header(type), ...records]);
const END = Uint8Array.of(0x01);

describe('the binary envelope of .NET', () => {
  const text = '{"a":"ü"}';
  const long = 'x'.repeat(300);

  it.each([
    ['a short text', binary('string', record(0x99, [10], text)), text],
    ['a text of 300 characters', binary('string', record(0x9b, [0x2c, 0x01], long)), long],
    ['a text with a long length', binary('string', record(0x9d, [10, 0, 0, 0], text)), text],
    ['bytes', binary('base64Binary', record(0x9f, [10], text)), text],
    ['300 bytes', binary('base64Binary', record(0xa1, [0x2c, 0x01], long)), long],
    ['bytes with a long length', binary('base64Binary', record(0xa3, [10, 0, 0, 0], text)), text],
    ['UTF-16', binary('string', record(0xb7, [18], Buffer.from(text, 'utf16le'))), text],
    ['UTF-16 with a length of two bytes', binary('string', record(0xb9, [18, 0], Buffer.from(text, 'utf16le'))), text],
    ['UTF-16 with a long length', binary('string', record(0xbb, [18, 0, 0, 0], Buffer.from(text, 'utf16le'))), text],
    ['nothing', binary('string', Uint8Array.of(0xa9)), ''],
    ['nothing at all', binary('string', END), ''],
    ['a text in pieces', binary('string', record(0x98, [4], '{"a"'), record(0x99, [3], ':1}')), '{"a":1}'],
    [
      'a text in pieces with an end of its own',
      binary('string', record(0x98, [4], '{"a"'), record(0x98, [3], ':1}'), END),
      '{"a":1}',
    ],
  ])('holds %s', (_, bytes, expected) => {
    expect(Buffer.from(unwrapBinary(bytes) ?? [0]).toString()).toBe(expected);
  });

  it('is read where it does not start its buffer', () => {
    const bytes = Buffer.concat([Buffer.from('before'), binary('string', record(0x9b, [3, 0], 'abc'))]).subarray(6);
    expect(Buffer.from(unwrapBinary(bytes) ?? [0]).toString()).toBe('abc');
  });

  it.each([
    ['JSON', Buffer.from(text)],
    ['empty', new Uint8Array()],
    ['another type', binary('int', record(0x99, [1], '5'))],
    ['half a header', header('string').subarray(0, 20)],
    ['a header alone', header('string')],
    ['shorter than it says', binary('string', record(0x99, [5], 'abc'))],
    ['half a length', binary('string', Uint8Array.of(0x9b, 1))],
    ['without a length', binary('string', Uint8Array.of(0x99))],
    ['followed by more', binary('string', record(0x99, [3], 'abc'), Buffer.from('x'))],
    ['followed by more after its end', binary('string', record(0x98, [3], 'abc'), END, Buffer.from('x'))],
    ['without an end', binary('string', record(0x98, [3], 'abc'))],
    ['of a record that is no text', binary('string', record(0x81, [3], 'abc'))],
  ])('is none where it is %s', (_, bytes) => {
    expect(unwrapBinary(bytes)).toBeUndefined();
  });
});

describe('the text envelope of .NET', () => {
  const xml = (content: string, type = 'string') => `<${type} xmlns="${NAMESPACE}">${content}</${type}>`;

  it.each([
    ['a text', xml('{"a":1}'), '{"a":1}'],
    ['nothing', xml(''), ''],
    ['nothing in one element', `<string xmlns="${NAMESPACE}" />`, ''],
    ['entities', xml('&lt;&gt;&amp;&quot;&apos;&#65;&#x42;&#x1F600;&AMP;'), `<>&"'AB😀&`],
    ['what is no entity', xml('&unknown;&#x110000;&#1114112;&;'), '&unknown;&#x110000;&#1114112;&;'],
    ['the last code point there is', xml('&#x10FFFF;'), '\u{10ffff}'],
    ['bytes', xml('eyJhIjoxfQ==', 'base64Binary'), '{"a":1}'],
    ['a text after a declaration', ` <?xml version="1.0"?>\n${xml('a')}\n`, 'a'],
    ['line breaks', xml('a\nb'), 'a\nb'],
  ])('holds %s', (_, text, expected) => {
    expect(unwrapXml(text)).toBe(expected);
  });

  it.each([
    ['JSON', '{"a":1}'],
    ['another namespace', '<string xmlns="urn:x">a</string>'],
    ['another type', xml('5', 'int')],
    ['not closed', `<string xmlns="${NAMESPACE}">a`],
    ['closed as another', `<string xmlns="${NAMESPACE}">a</base64Binary>`],
    ['around more elements', xml('<a/>')],
    ['after something', `x${xml('a')}`],
    ['before something', `${xml('a')}x`],
    ['around bytes that are no text', xml('/w==', 'base64Binary')],
  ])('is none where it is %s', (_, text) => {
    expect(unwrapXml(text)).toBeUndefined();
  });
});
