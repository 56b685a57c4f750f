import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Lane } from '../../../../local/broker/model/lane.ts';
import { StoredMessage } from '../../../../local/broker/model/stored-message.ts';
import { aMessage } from './a-queue.ts';

const aStored = (position: number) => new StoredMessage(aMessage(`m${position}`), position, 0);

test('hands messages out by their positions, whatever was taken, given back and lost in between', () => {
  const step = fc.oneof(
    fc.constant({ kind: 'append' as const }),
    fc.constant({ kind: 'take' as const }),
    fc.record({ kind: fc.constantFrom('giveBack' as const, 'lose' as const), pick: fc.nat() }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300, size: 'max' }), (steps) => {
      const lane = new Lane();
      const waiting: StoredMessage[] = [];
      const taken: StoredMessage[] = [];
      let last = 0;
      for (const one of steps) {
        if (one.kind === 'append') {
          const message = aStored(++last);
          lane.append(message);
          waiting.push(message);
        } else if (one.kind === 'take') {
          waiting.sort((a, b) => a.position - b.position);
          const message = lane.take();
          expect(message).toBe(waiting.shift());
          if (message !== undefined) taken.push(message);
          if (message !== undefined) message.state = 'locked';
        } else if (one.kind === 'giveBack' && taken.length > 0) {
          const [message] = taken.splice(one.pick % taken.length, 1) as [StoredMessage];
          message.state = 'active';
          lane.giveBack(message);
          waiting.push(message);
        } else if (one.kind === 'lose' && waiting.length > 0) {
          const [message] = waiting.splice(one.pick % waiting.length, 1) as [StoredMessage];
          message.state = 'gone';
          lane.forget();
        }
        expect(lane.size).toBe(waiting.length);
      }
    }),
    { numRuns: 300 },
  );
});

test('keeps the order through many messages that were lost or taken', () => {
  const lane = new Lane();
  const messages = Array.from({ length: 10_000 }, (_, index) => aStored(index + 1));
  for (const message of messages) lane.append(message);
  for (const message of messages) {
    if (message.position % 7 === 0) continue;
    message.state = 'gone';
    lane.forget();
  }
  const taken: number[] = [];
  for (let next = lane.take(); next !== undefined; next = lane.take()) taken.push(next.position);
  expect(taken).toEqual(messages.map(({ position }) => position).filter((position) => position % 7 === 0));
});
