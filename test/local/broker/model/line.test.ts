import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Line } from '../../../../local/broker/model/line.ts';

test('gives what has waited longest, whatever came and left in between', () => {
  const step = fc.record({ kind: fc.constantFrom('add', 'delete', 'leave', 'look'), pick: fc.nat(9) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
      const items = Array.from({ length: 10 }, (_, name) => ({ name }));
      const line = new Line<object>();
      const expected: object[] = [];
      for (const { kind, pick } of steps) {
        const item = kind === 'leave' ? line.first() : items[pick];
        if (item === undefined || kind === 'look') {
          expect(line.first()).toBe(expected[0]);
        } else if (kind === 'add') {
          line.add(item);
          if (!expected.includes(item)) expected.push(item);
        } else {
          line.delete(item);
          if (expected.includes(item)) expected.splice(expected.indexOf(item), 1);
        }
        expect(items.map((one) => line.has(one))).toEqual(items.map((one) => expected.includes(one)));
      }
      expect(line.first()).toBe(expected[0]);
    }),
  );
});
