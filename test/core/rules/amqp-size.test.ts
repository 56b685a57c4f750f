import { describe, expect, it } from 'vitest';
import { propertySizeInBytes } from '../../../functions/core/rules/amqp-size.ts';
import { int, type PropertyValue, string } from '../../../functions/core/rules/delivery.ts';

describe('the size of a property on the wire', () => {
  it.each<[string, PropertyValue, number, number]>([
    ['a text by its UTF-8', string('üü'), 5 + 1 + 5 + 4, 2 + 1 + 2 + 4],
    ['a symbol by its characters', { type: 'symbol', value: 'abc' }, 5 + 1 + 5 + 3, 2 + 1 + 2 + 3],
    ['bytes by their number', { type: 'binary', value: new Uint8Array(10) }, 5 + 1 + 5 + 10, 2 + 1 + 2 + 10],
    ['anything else by the widest and the least there is', int(5), 5 + 1 + 17, 2 + 1 + 1],
    ['a uuid as that, though it is shown as text', { type: 'uuid', value: 'x'.repeat(36) }, 5 + 1 + 17, 2 + 1 + 1],
  ])('counts %s', (_, property, most, least) => {
    expect(propertySizeInBytes('n', property)).toEqual({ most, least });
  });

  it('counts the name by its UTF-8', () => {
    expect(propertySizeInBytes('üü', int(5))).toEqual({ most: 5 + 4 + 17, least: 2 + 4 + 1 });
  });
});
