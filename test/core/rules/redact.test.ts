import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redact, safeText } from '../../../functions/core/rules/redact.ts';
import { sizeInBytes } from '../../../functions/core/rules/text.ts';

const TOKEN = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl';

describe('a secret', () => {
  it.each([
    [
      'the key in a connection string of the bus, but neither address nor name',
      'Endpoint=sb://ns.example/;SharedAccessKeyName=Root;SharedAccessKey=abc+/=;EntityPath=q',
      'Endpoint=sb://ns.example/;SharedAccessKeyName=Root;SharedAccessKey=[redacted];EntityPath=q',
    ],
    [
      'the key in a connection string of storage',
      'DefaultEndpointsProtocol=https;AccountName=a;AccountKey=Zm9v/YmFy==;EndpointSuffix=x',
      'DefaultEndpointsProtocol=https;AccountName=a;AccountKey=[redacted];EndpointSuffix=x',
    ],
    [
      'the password in a connection string of a database, blanks and all',
      'Server=db;User Id=sa;Password=my secret word;Encrypt=true',
      'Server=db;User Id=sa;Password=[redacted];Encrypt=true',
    ],
    ['a password at the end of a line', 'Pwd = s3cret\nnext line', 'Pwd = [redacted]\nnext line'],
    ['a quoted password', `password="a b" password='c d' x`, 'password=[redacted] password=[redacted] x'],
    [
      'the signature in a SAS address, but not its other fields',
      'GET https://a.example/c?sv=2024&sig=aB%2F3d%3D&se=2026-01-05',
      'GET https://a.example/c?sv=2024&sig=[redacted]&se=2026-01-05',
    ],
    [
      'the signature in a SAS token',
      'SharedAccessSignature sr=sb%3a&sig=abc%3d&se=17&skn=Root',
      'SharedAccessSignature sr=sb%3a&sig=[redacted]&se=17&skn=Root',
    ],
    ['a bearer token', 'Authorization: Bearer abc.def-123', 'Authorization: Bearer [redacted]'],
    ['a bearer token in a sentence', 'bearer  xyz, which has expired', 'bearer  [redacted], which has expired'],
    ['a JSON web token by itself', `token ${TOKEN} refused`, 'token [redacted] refused'],
    ['basic credentials', 'authorization: Basic dXNlcjpwYXNz;', 'authorization: Basic [redacted];'],
    ['basic credentials in JSON', '{"Authorization":"Basic dXNlcg=="}', '{"Authorization":"Basic [redacted]"}'],
    ['a secret in JSON', '{"client_secret": "abc","a":1}', '{"client_secret": "[redacted]","a":1}'],
    [
      'a secret in JSON inside a string',
      '{\\"apiKey\\":\\"abc\\",\\"a\\":1}',
      '{\\"apiKey\\":\\"[redacted]\\",\\"a\\":1}',
    ],
    ['an access token in a query', 'callback?access_token=abc&state=1', 'callback?access_token=[redacted]&state=1'],
    ['a key in a header', 'x-functions-key: abc\r\nHost: a', 'x-functions-key: [redacted]\r\nHost: a'],
    [
      'an instrumentation key',
      'InstrumentationKey=1-2;IngestionEndpoint=x',
      'InstrumentationKey=[redacted];IngestionEndpoint=x',
    ],
    ['a password in an address', 'amqps://user:pa55@host:5671/q', 'amqps://user:[redacted]@host:5671/q'],
    ['a password without a user in an address', 'redis://:pa55@host', 'redis://:[redacted]@host'],
    [
      'every one of several',
      'sig=a&sig=b Bearer x1 Bearer y2',
      'sig=[redacted]&sig=[redacted] Bearer [redacted] Bearer [redacted]',
    ],
  ])('is redacted: %s', (_, text, expected) => {
    expect(redact(text)).toBe(expected);
    // Redacting twice changes nothing more.
    expect(redact(expected)).toBe(expected);
  });

  it.each([
    'The bearer token is missing; use Bearer authentication',
    'password: must hold at least 8 characters',
    'design=modern, assigned=1, the secret of success',
    'https://host:8080/path?order=4711',
    'connect ECONNREFUSED 127.0.0.1:5672',
    'basic tier',
    'a key: value; Authorization: none',
  ])('is none in %j', (text) => {
    expect(redact(text)).toBe(text);
  });

  it('is also what the own patterns match, each whole and every time', () => {
    const patterns = [/card \d+/i, /iban\w+/g];
    const text = 'card 1, Card 2, ibanDE1 and ibanAT2';
    expect(redact(text, patterns)).toBe('[redacted], [redacted], [redacted] and [redacted]');
    expect(redact(text, patterns)).toBe('[redacted], [redacted], [redacted] and [redacted]');
  });

  it('is not made of nothing by a pattern that matches the empty text', () => {
    expect(redact('abc', [/x*/])).toBe('abc');
    expect(redact('abc', [/b*/])).toBe('a[redacted]c');
  });

  it('is looked for in linear time: a hostile text would else outlast the time limit of this test', () => {
    const fragments = ['password=', 'sig=', '://a:', 'eyJ', 'bearer ', 'authorization: basic ', '"secret":"'];
    const texts = fragments.map((fragment) => fragment.repeat(20_000));
    expect(texts.map((text) => redact(text).length > 0)).toEqual(fragments.map(() => true));
  }, 5_000);
});

describe('a text that leaves', () => {
  it('is redacted before it is cut, so that no half of a secret stays', () => {
    expect(safeText(`sig=${'x'.repeat(100)}`, 20)).toBe('sig=[redacted]');
    expect(safeText(`${'a'.repeat(20)} sig=abc`, 10)).toBe('aaaaaaa…');
  });

  it('is read up to 8 KB', () => {
    expect(safeText('x'.repeat(9_000), 10_000)).toBe(`${'x'.repeat(8_189)}…`);
  });

  it('stays within its bytes whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), fc.integer({ min: 0, max: 200 }), (text, maxBytes) => {
        expect(sizeInBytes(safeText(text, maxBytes))).toBeLessThanOrEqual(maxBytes);
      }),
    );
  });
});
