import { describe, expect, it } from 'vitest';
import { conflictFailure, fingerprintOf, isSameContent } from '../../../functions/core/rules/fingerprint.ts';
import { hash } from '../../../functions/core/rules/hash.ts';

const ten = fingerprintOf('A-1', 10, 'EUR');
const twelve = fingerprintOf('A-1', 12, 'EUR');

describe('a fingerprint', () => {
  it('is the same for the same content and another for any other', () => {
    expect(fingerprintOf('A-1', 10, 'EUR')).toBe(ten);
    expect(new Set([ten, twelve, fingerprintOf('A-11', 0, 'EUR'), fingerprintOf('A-1', 1, '0EUR')]).size).toBe(4);
  });

  it('shows nothing of the content', () => {
    expect(ten).toBe(hash('fingerprint', 'A-1', 10, 'EUR'));
  });
});

describe('the same event id with another content', () => {
  it('is a conflict', () => {
    expect(isSameContent(ten, twelve)).toBe(false);
    expect(conflictFailure('A', ten, twelve)).toEqual({
      reason: 'IdempotencyConflict',
      code: 'IdempotencyConflict',
      message: `event A is known with another content (fingerprint ${ten.slice(0, 8)}, now ${twelve.slice(0, 8)})`,
    });
  });

  it('is told even where the delivery has no fingerprint to tell it by', () => {
    expect(conflictFailure('A', ten, undefined).message).toBe(
      `event A is known with another content (fingerprint ${ten.slice(0, 8)}, now none)`,
    );
  });

  it.each([
    ['the content is the same', ten, ten],
    ['the record holds none', undefined, ten],
    ['the record holds an empty one', '', ten],
    ['the event defines none', ten, undefined],
    ['the event defines none for this one', ten, ''],
  ])('is none where %s', (_, recorded, delivered) => {
    expect(isSameContent(recorded, delivered)).toBe(true);
  });
});
