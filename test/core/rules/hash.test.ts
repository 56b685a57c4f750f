import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fraction, hash, idempotencyKey } from '../../../functions/core/rules/hash.ts';

describe('hash', () => {
  it('is the SHA-256 of the parts with their lengths, the same in every build', () => {
    // printf '1:a;2:bc;' | sha256sum
    expect(hash('a', 'bc')).toBe('22820a03ed72f5350ea9d789a4f9ccc0cbc8de62184482344db0576f1b14a106');
  });

  it('takes a part that has no UTF-8 as UTF-16, under a mark of its own', () => {
    // printf '1:a;1!\x00\xd8;' | sha256sum
    expect(hash('a', '\ud800')).toBe('f40d334c0c2a6fe47ed1bb82ecb091a140401de076e2e9f7540d330818771a23');
  });

  it.each([
    ['where the parts are cut elsewhere', ['a', 'bc'], ['ab', 'c']],
    ['where a part holds the separator', ['a;1:b'], ['a', 'b']],
    ['for an empty part and none', ['a', ''], ['a']],
    ['for lone surrogates, which share one replacement in UTF-8', ['\ud800'], ['\ud801']],
    ['for a lone surrogate and the replacement character', ['\ud800'], ['\ufffd']],
    ['for composed and decomposed letters', ['é'], ['e\u0301']],
  ])('differs %s', (_, one, other) => {
    expect(hash(...one)).not.toBe(hash(...other));
  });

  it('differs for different texts of any kind', () => {
    const parts = fc.array(fc.string({ unit: 'binary', maxLength: 3 }), { maxLength: 4 });
    fc.assert(
      fc.property(parts, parts, (one, other) => {
        expect(hash(...one) === hash(...other)).toBe(JSON.stringify(one) === JSON.stringify(other));
      }),
    );
  });
});

describe('fraction', () => {
  it('is the same for the same parts', () => {
    expect(fraction('backoff', 'A', 1)).toBe(0.6082170382953223);
  });

  it('lies in [0, 1) and spreads evenly', () => {
    const drawn = Array.from({ length: 1_000 }, (_, n) => fraction('test', n));
    expect(drawn.every((value) => value >= 0 && value < 1)).toBe(true);
    const quarters = [0, 1, 2, 3].map((quarter) => drawn.filter((value) => Math.floor(value * 4) === quarter).length);
    expect(Math.min(...quarters)).toBeGreaterThan(200);
  });
});

describe('idempotencyKey', () => {
  it('is one key for an event of a consumer, whatever the attempt', () => {
    expect(idempotencyKey('queue/consumer', 'A')).toBe(
      '60e45487e7031566a7081ae2f685f7e50d007ae25c24a417dee24b9c25ce2a43',
    );
    expect(idempotencyKey('queue/consumer', 'B')).not.toBe(idempotencyKey('queue/consumer', 'A'));
    expect(idempotencyKey('queue/other', 'A')).not.toBe(idempotencyKey('queue/consumer', 'A'));
  });

  it('is another for each edit of a replay', () => {
    const keys = [undefined, '', 'amount', 'amount, again'].map((edit) => idempotencyKey('queue/consumer', 'A', edit));
    expect(new Set(keys).size).toBe(4);
  });

  it('is not the plain hash of its parts, so that no other key can equal it', () => {
    expect(idempotencyKey('queue/consumer', 'A')).toBe(hash('effect', 'queue/consumer', 'A'));
  });
});
