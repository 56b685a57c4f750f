import { expect, it } from 'vitest';
import { int, string } from '../../../functions/core/rules/delivery.ts';

it('a property that we write has its type in so many words: a filter must not see it change', () => {
  expect([int(3), string('3')]).toEqual([
    { type: 'int', value: 3 },
    { type: 'string', value: '3' },
  ]);
});
