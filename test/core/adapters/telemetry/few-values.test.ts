import { expect, test } from 'vitest';
import { fewValues } from '../../../../functions/core/adapters/telemetry/few-values.ts';

test('the first values pass, any further is one, and what is known always passes', () => {
  const bounded = fewValues(['Known'], 2);
  expect(['a', 'b', 'a', 'c', 'Known', 'd', 'b'].map(bounded)).toEqual([
    'a',
    'b',
    'a',
    '_OTHER',
    'Known',
    '_OTHER',
    'b',
  ]);
});
