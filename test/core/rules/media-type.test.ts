import { describe, expect, it } from 'vitest';
import { readMediaType } from '../../../functions/core/rules/media-type.ts';

describe('a content type', () => {
  // A8
  it.each([
    undefined,
    '',
    ' ',
    'application/json',
    'APPLICATION/JSON',
    ' application/json ',
    'text/json',
    'application/cloudevents+json',
    'application/vnd.acme.order+JSON',
  ])('is read as JSON: %j', (contentType) => {
    expect(readMediaType(contentType)).toEqual({ reading: 'json', charset: undefined });
  });

  it.each(['text/plain', 'text/csv', 'TEXT/HTML'])('is read as text: %j', (contentType) => {
    expect(readMediaType(contentType)).toEqual({ reading: 'text', charset: undefined });
  });

  it.each(['application/xml', 'text/xml'])('may be a .NET envelope: %j', (contentType) => {
    expect(readMediaType(contentType)).toEqual({ reading: 'xml', charset: undefined });
  });

  it.each([
    'application/octet-stream',
    'application/json5',
    'x-application/json',
    'application/xml-dtd',
    'application/soap+xml',
    'image/png',
    'application/json+zip',
    'json',
    'xtext/plain',
  ])('is not supported: %j', (contentType) => {
    expect(readMediaType(contentType).reading).toBeUndefined();
  });

  it.each([
    ['application/json; charset=utf-8', 'utf-8'],
    ['application/json;charset="UTF-16LE"', 'utf-16le'],
    ['application/json; profile="x"; Charset = latin1 ; v=1', 'latin1'],
    ['application/json; charset=', undefined],
    ['application/json; xcharset=utf-8', undefined],
    ['application/json; charset=a b', undefined],
    ['application/json; charset="', undefined],
  ])('names its charset: %j', (contentType, charset) => {
    expect(readMediaType(contentType)).toEqual({ reading: 'json', charset });
  });
});
