import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ExactNumber, exactText, parseJson } from '../../../functions/core/rules/exact-number.ts';

describe('a JSON number', () => {
  it.each([
    ['0', 0],
    ['1.10', 1.1],
    ['0.1', 0.1],
    ['-9007199254740992', -9_007_199_254_740_992],
    ['9007199254740992.000', 9_007_199_254_740_992],
    ['0.1000000000000000', 0.1],
    // As printed with 17 digits, and with all that the double has.
    ['0.10000000000000001', 0.1],
    ['0.1000000000000000055511151231257827021181583404541015625', 0.1],
    // As printed in the shortest form that reads back.
    ['123456789012345680000', 123_456_789_012_345_680_000],
    [`1${'0'.repeat(150)}`, 1e150],
    ['1e3', 1_000],
    ['1.5E-7', 1.5e-7],
    ['-0e0', -0],
    ['0.0000000000000000', 0],
    ['0e999', 0],
    // Written out, where the double prints with an exponent, and the other way round.
    ['0.000000150000000000', 1.5e-7],
    ['1500000000000000000000000', 1.5e24],
    ['15e-8', 1.5e-7],
    ['-0.15E-6', -1.5e-7],
    ['0.15e1', 1.5],
    ['1.7976931348623157e308', Number.MAX_VALUE],
    ['5e-324', Number.MIN_VALUE],
  ])('is a number where a double holds it: %s', (text, value) => {
    expect(parseJson(text)).toBe(value);
  });

  // A2
  it.each([
    '9007199254740993',
    '-9007199254740993',
    '4603086877212508601',
    '6371691901200433359',
    '0.30000000000000001665',
    '12345678.123456789012',
    '123456789012345678000',
    '1e400',
    '-1e400',
    '1e-400',
    '4e-324',
    '9.00719925474099300e15',
    `0.${'1'.repeat(120)}`,
    '1'.repeat(101),
  ])('is kept as it was written where a double does not: %s', (text) => {
    expect(parseJson(text)).toEqual(new ExactNumber(text));
  });

  it('is kept wherever it stands, and written again as it came', () => {
    const text = '{"id":9007199254740993,"amount":1.5,"lines":[{"n":1e400},"9007199254740993",null]}';
    const value = parseJson(text);
    expect(value).toEqual({
      id: new ExactNumber('9007199254740993'),
      amount: 1.5,
      lines: [{ n: new ExactNumber('1e400') }, '9007199254740993', null],
    });
    expect(JSON.stringify(value)).toBe(text);
  });

  it('is a number again for every double that is written', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (drawn) => {
        // JSON.stringify knows no -0.
        const value = drawn + 0;
        expect(parseJson(JSON.stringify([value]))).toEqual([value]);
        expect(parseJson(`[${value.toPrecision(17)}]`)).toEqual([value]);
      }),
    );
  });

  it('is a number however its digits and its exponent share the decimal point', () => {
    const scale = fc.integer({ min: -30, max: 30 });
    fc.assert(
      fc.property(fc.integer({ min: -(10 ** 15), max: 10 ** 15 }), scale, scale, (digits, exponent, shift) => {
        const moved = `${digits < 0 ? '-' : ''}0.${'0'.repeat(Math.max(0, shift))}${Math.abs(digits)}`;
        const places = Math.max(0, shift) + String(Math.abs(digits)).length;
        expect(parseJson(`${digits}e${exponent}`)).toBe(Number(`${digits}e${exponent}`));
        expect(parseJson(`${moved}e${exponent + places}`)).toBe(Number(`${digits}e${exponent}`));
      }),
    );
  });

  it('is a number for an integer just where it is that integer, or prints as it', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 69n), max: 2n ** 69n }), (integer) => {
        const number = Number(integer);
        const isHeld = BigInt(number) === integer || String(number) === String(integer);
        expect(parseJson(String(integer))).toEqual(isHeld ? number : new ExactNumber(String(integer)));
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('any other JSON', () => {
  it('is parsed as ever', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(JSON.stringify(parseJson(text))).toBe(JSON.stringify(JSON.parse(text)));
      }),
    );
  });

  it.each(['', '{"a":', '01', '[9007199254740993', 'NaN'])('is refused where it is none: %j', (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });
});

describe('a schema', () => {
  const order = z.object({ number: z.preprocess(exactText, z.string().regex(/^\d+$/)) });

  it('is given the text of a number that it asks for, held by a double or not', () => {
    expect(order.parse(parseJson('{"number":9007199254740993}'))).toEqual({ number: '9007199254740993' });
    expect(order.parse(parseJson('{"number":17}'))).toEqual({ number: '17' });
    expect(order.parse(parseJson('{"number":"17"}'))).toEqual({ number: '17' });
  });

  it('that wants a number refuses one that would be rounded', () => {
    expect(z.object({ number: z.number() }).safeParse(parseJson('{"number":9007199254740993}')).success).toBe(false);
  });

  it.each([[null], ['x'], [true], [undefined]])('is given anything else as it is: %j', (value) => {
    expect(exactText(value)).toBe(value);
  });
});
