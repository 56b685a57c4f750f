import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TimerHeap, type TimerNode } from '../../../../local/broker/model/timer-heap.ts';

function aNode(fired: number[], id: number): TimerNode {
  return { dueUtc: 0, heapOrder: 0, heapIndex: -1, onDue: () => fired.push(id) };
}

test('fires equal instants in the order in which they were set', () => {
  const heap = new TimerHeap();
  const fired: number[] = [];
  for (let id = 0; id < 20; id++) heap.set(aNode(fired, id), 1000);
  heap.runUntil(1000);
  expect(fired).toEqual(Array.from({ length: 20 }, (_, id) => id));
});

test('fires what is due in order, whatever was set, set again and cancelled before', () => {
  const step = fc.record({ id: fc.nat({ max: 30 }), dueUtc: fc.option(fc.nat({ max: 50 })) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200, size: 'max' }), fc.nat({ max: 50 }), (steps, nowUtc) => {
      const heap = new TimerHeap();
      const fired: number[] = [];
      const nodes = Array.from({ length: 31 }, (_, id) => aNode(fired, id));
      const expected = new Map<number, { dueUtc: number; order: number }>();
      steps.forEach(({ id, dueUtc }, order) => {
        if (dueUtc === null) heap.cancel(nodes[id] as TimerNode);
        else heap.set(nodes[id] as TimerNode, dueUtc);
        if (dueUtc === null) expected.delete(id);
        else expected.set(id, { dueUtc, order });
      });
      const ordered = [...expected].sort(([, a], [, b]) => a.dueUtc - b.dueUtc || a.order - b.order);
      expect(heap.nextDueUtc).toBe(ordered[0]?.[1].dueUtc ?? Number.POSITIVE_INFINITY);
      heap.runUntil(nowUtc);
      const due = ordered.filter(([, { dueUtc }]) => dueUtc <= nowUtc);
      expect(fired).toEqual(due.map(([id]) => id));
      expect(heap.size).toBe(ordered.length - due.length);
    }),
  );
});

test('fires what is set while it runs, if that is due too', () => {
  const heap = new TimerHeap();
  const fired: number[] = [];
  const second = aNode(fired, 2);
  heap.set({ dueUtc: 0, heapOrder: 0, heapIndex: -1, onDue: () => heap.set(second, 500) }, 400);
  heap.runUntil(500);
  expect(fired).toEqual([2]);
});

test('never waits for an instant without end', () => {
  const heap = new TimerHeap();
  heap.set(aNode([], 1), Number.POSITIVE_INFINITY);
  expect(heap.size).toBe(0);
});
