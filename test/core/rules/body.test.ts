import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Inflate, LARGEST_BODY_BYTES, type ReadBody, readBody } from '../../../functions/core/rules/body.ts';
import { ExactNumber } from '../../../functions/core/rules/exact-number.ts';
import { aDelivery } from '../../fixtures/deliveries.ts';

const value = (read: unknown): ReadBody => ({ kind: 'value', value: read });
const malformed = (message: string): ReadBody => ({
  kind: 'malformed',
  failure: { kind: 'permanent', reason: 'MalformedBody', code: 'MalformedBody', message },
});
const read = (changes: Parameters<typeof aDelivery>[0], inflate?: Inflate) => readBody(aDelivery(changes), inflate);

const NAMESPACE = 'http://schemas.microsoft.com/2003/10/Serialization/';
const binaryEnvelope = (text: string) =>
  Buffer.concat([
    Buffer.from(`\x40\x06string\x083${NAMESPACE}`, 'latin1'),
    Uint8Array.of(0x99, text.length),
    Buffer.from(text),
  ]);
const xmlEnvelope = (text: string) => `<string xmlns="${NAMESPACE}">${text}</string>`;

describe('a body', () => {
  // A8
  it.each(['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/cloudevents+json', undefined])(
    'of content type %j is JSON',
    (contentType) => {
      expect(read({ contentType, body: '{"a":1}' })).toEqual(value({ a: 1 }));
    },
  );

  it('of text is text, even where it looks like something else', () => {
    expect(read({ contentType: 'text/plain', body: '6371691901200433359' })).toEqual(value('6371691901200433359'));
    expect(read({ contentType: 'text/plain', body: '' })).toEqual(value(''));
    expect(read({ contentType: 'text/plain', body: xmlEnvelope('a') })).toEqual(value(xmlEnvelope('a')));
  });

  it('of a type that nobody reads is malformed', () => {
    expect(read({ contentType: 'image/png' })).toEqual(
      malformed('content type "image/png" is not supported: expected JSON or text'),
    );
  });

  it('of a type that nobody reads is malformed by that, not by what its bytes are', () => {
    expect(read({ contentType: 'image/png', body: Uint8Array.of(0xff, 0x00) })).toEqual(
      malformed('content type "image/png" is not supported: expected JSON or text'),
    );
  });

  // A2
  it('keeps numbers that a double cannot hold', () => {
    expect(read({ body: '{"id":9007199254740993,"amt":1.10}' })).toEqual(
      value({ id: new ExactNumber('9007199254740993'), amt: 1.1 }),
    );
  });

  // A4
  it('may begin with a byte order mark', () => {
    expect(read({ body: '\ufeff{"a":1}' })).toEqual(value({ a: 1 }));
    expect(read({ body: Buffer.from('\ufeff{"a":"ü"}', 'utf16le') })).toEqual(value({ a: 'ü' }));
  });

  it('is read in the charset that its type names', () => {
    const body = Buffer.from('{"a":"ü"}', 'latin1');
    expect(read({ contentType: 'application/json; charset=iso-8859-1', body })).toEqual(value({ a: 'ü' }));
    expect(read({ body })).toEqual(malformed('the body is not valid UTF-8'));
    expect(read({ contentType: 'application/json; charset=utf-7', body })).toEqual(
      malformed('the body is not valid utf-7'),
    );
  });

  // A7
  it('that is absent, empty or null differs in what becomes of it', () => {
    expect(read({ body: { kind: 'absent' } })).toEqual(malformed('the message has no body'));
    expect(read({ body: { kind: 'unreadable', problem: 'cut off' } })).toEqual(malformed('cut off'));
    expect(read({ body: '' })).toEqual(malformed('the body is empty'));
    expect(read({ body: ' \r\n' })).toEqual(malformed('the body is empty'));
    expect(read({ body: 'null' })).toEqual(value(null));
  });

  it.each([
    ['{"a":', 'Unexpected end of JSON input'],
    ['{"secret":"hunter2",,}', 'Expected double-quoted property name in JSON at position 20 (line 1 column 21)'],
    ['{"secret":hunter2}', "Unexpected token 'h'"],
    [`[${'1,'.repeat(50)}secret${',1'.repeat(50)}]`, "Unexpected token 's'"],
    ['x\n"secret"\nx', "Unexpected token 'x'"],
    ['undefined', 'no value'],
  ])('that is no JSON is malformed, and not quoted: %j', (body, why) => {
    expect(read({ body })).toEqual(malformed(`the body is not JSON: ${why}`));
  });

  it('as deep as it can be is a value or malformed', () => {
    const depth = 200_000;
    const body = `${'['.repeat(depth)}9007199254740993${']'.repeat(depth)}`;
    expect(['value', 'malformed']).toContain(read({ body }).kind);
  });
});

describe('an AMQP value', () => {
  it('that is text or bytes is read as such', () => {
    const bytes = Buffer.from('{"a":1}');
    expect(read({ body: { kind: 'value', bytes, value: '{"a":1}' } })).toEqual(value({ a: 1 }));
    expect(read({ body: { kind: 'sequence', bytes, value: bytes } })).toEqual(value({ a: 1 }));
  });

  it('that is text is UTF-8, whatever the charset says', () => {
    const body = { kind: 'value', bytes: Buffer.from('"ü"'), value: '"ü"' } as const;
    const contentType = 'application/json; charset=iso-8859-1';
    expect(read({ contentType, body })).toEqual(value('ü'));
    expect(read({ contentType, body: { ...body, value: body.bytes } })).toEqual(value('Ã¼'));
  });

  it.each([[{ a: 1 }], [[1, 2, 3]], [null], [5]])('that is neither is handed on as it is: %j', (given) => {
    expect(read({ contentType: 'text/plain', body: { kind: 'value', bytes: undefined, value: given } })).toEqual(
      value(given),
    );
    expect(read({ body: { kind: 'sequence', bytes: undefined, value: given } })).toEqual(value(given));
  });
});

describe('a content encoding', () => {
  /** Undoes nothing: shows what it was asked for. */
  const showing: Inflate = (compression, bytes, maxBytes) =>
    Buffer.from(JSON.stringify({ compression, inner: Buffer.from(bytes).toString(), maxBytes }));
  const shown = (compression: string, inner: string) => value({ compression, inner, maxBytes: LARGEST_BODY_BYTES });

  it.each(['', 'identity', 'Identity', 'utf-8', 'UTF8', 'us-ascii', '7bit', '8bit', 'binary', 'identity, utf-8'])(
    'that changes nothing: %j',
    (contentEncoding) => {
      expect(read({ contentEncoding, body: '{"a":1}' })).toEqual(value({ a: 1 }));
    },
  );

  it.each([
    ['gzip', 'gzip'],
    ['X-GZip', 'gzip'],
    ['deflate', 'deflate'],
    [' br ', 'br'],
  ])('that compresses is undone: %j', (contentEncoding, compression) => {
    expect(read({ contentEncoding, body: 'x' }, showing)).toEqual(shown(compression, 'x'));
  });

  it('that is a list is undone from its end', () => {
    expect(read({ contentEncoding: 'br, base64', body: 'eA==' }, showing)).toEqual(shown('br', 'x'));
    expect(read({ contentEncoding: 'base64', body: 'eyJhIjoxfQ==' })).toEqual(value({ a: 1 }));
  });

  it.each(['compress', 'zstd', 'gzip, zstd', 'gzip;q=1', 'toString', '__proto__'])(
    'that nobody knows is malformed: %j',
    (contentEncoding) => {
      expect(read({ contentEncoding }, showing)).toEqual(
        malformed(`content encoding "${contentEncoding}": not supported`),
      );
    },
  );

  it('that compresses is malformed where nothing can undo it', () => {
    expect(read({ contentEncoding: 'gzip' })).toEqual(malformed('content encoding "gzip": not supported'));
  });

  it('that names more than four is malformed', () => {
    const contentEncoding = 'identity,identity,identity,identity';
    expect(read({ contentEncoding, body: '1' })).toEqual(value(1));
    expect(read({ contentEncoding: `${contentEncoding},identity`, body: '1' })).toEqual(
      malformed(`content encoding "${contentEncoding},identity": more than 4`),
    );
  });

  it('that does not fit the bytes is malformed', () => {
    const failing: Inflate = () => {
      throw new Error('the body is not gzip');
    };
    expect(read({ contentEncoding: 'gzip' }, failing)).toEqual(
      malformed('content encoding "gzip": the body is not gzip'),
    );
  });

  it.each(['Content-Encoding', 'content-encoding', 'contentEncoding'])('may be the property %s', (name) => {
    expect(read({ properties: { [name]: 'gzip' }, body: 'x' }, showing)).toEqual(shown('gzip', 'x'));
  });

  it('is the field where both are there', () => {
    expect(
      read({ contentEncoding: 'identity', properties: { 'Content-Encoding': 'gzip' }, body: '1' }, showing),
    ).toEqual(value(1));
  });

  it.each([{ 'x-content-encoding': 'gzip' }, { 'content-encoding-x': 'gzip' }, { 'content-encoding': 5 }])(
    'is none in %j',
    (properties) => {
      expect(read({ properties, body: '1' }, showing)).toEqual(value(1));
    },
  );

  it('is none where no properties are given', () => {
    const { body, contentType, contentEncoding } = aDelivery({ body: '1' });
    expect(readBody({ body, contentType, contentEncoding })).toEqual(value(1));
  });
});

describe('an envelope of .NET', () => {
  it.each([undefined, 'application/json', 'application/xml; charset=utf-8'])(
    'is opened under content type %j',
    (contentType) => {
      expect(read({ contentType, body: binaryEnvelope('{"a":1}') })).toEqual(value({ a: 1 }));
      expect(read({ contentType, body: xmlEnvelope('{"a":1}') })).toEqual(value({ a: 1 }));
    },
  );

  it('around text is opened for text where it is binary: nobody means those bytes as text', () => {
    expect(read({ contentType: 'text/plain', body: binaryEnvelope('{"a":1}') })).toEqual(value('{"a":1}'));
  });

  it('may hold what is no JSON', () => {
    expect(read({ body: xmlEnvelope('hello') })).toEqual(malformed("the body is not JSON: Unexpected token 'h'"));
    expect(read({ body: xmlEnvelope('') })).toEqual(malformed('the body is empty'));
  });

  it('is all that is read of XML', () => {
    expect(read({ contentType: 'application/xml', body: '<order/>' })).toEqual(
      malformed('content type "application/xml" is not supported: expected JSON or text'),
    );
  });
});

describe('any bytes', () => {
  it('are a value or malformed, and never show in the message', () => {
    const contentType = fc.constantFrom(
      undefined,
      'application/json',
      'text/plain',
      'application/xml',
      'application/json; charset=utf-16',
    );
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.string().map((text) => Buffer.from(text)),
      fc.json().map((text) => Buffer.from(text)),
    );
    fc.assert(
      fc.property(bytes, contentType, (body, type) => {
        const found = read({ body, contentType: type });
        if (found.kind === 'value') return;
        const shown = found.failure.message.replace(/Unexpected token '.*?'$/su, '');
        const text = Buffer.from(body).toString();
        expect(text.length > 3 && shown.includes(text)).toBe(false);
      }),
    );
  });
});
