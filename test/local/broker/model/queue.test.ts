import { expect, test } from 'vitest';
import type { Queue } from '../../../../local/broker/model/queue.ts';
import { aMessage, aQueue, NOON_UTC, receivedIds } from './a-queue.ts';

function take(queue: Queue): string {
  const token = queue.receive()?.lockToken;
  if (token === undefined) throw new Error('Nothing could be received.');
  return token;
}

function deadLetters(queue: Queue) {
  return queue.peek(0, 100).map(({ content, sequenceNumber, deliveryCount, properties }) => ({
    id: content.messageId,
    sequenceNumber,
    deliveryCount,
    properties: Object.fromEntries(properties ?? []),
  }));
}

test('hands messages over in the order in which they were sent', () => {
  const { queue } = aQueue();
  for (const id of ['a', 'b', 'c']) queue.send(aMessage(id));
  expect(receivedIds(queue)).toEqual(['a', 'b', 'c']);
});

test('locks a message for the lock duration and hands it to nobody else', () => {
  const { queue } = aQueue({ lockDurationInMs: 30_000 });
  queue.send(aMessage('a'));
  const delivery = queue.receive();
  expect(delivery).toMatchObject({ lockedUntilUtc: NOON_UTC + 30_000, deliveryCount: 0 });
  expect(queue.receive()).toBeUndefined();
});

test('removes a completed message', () => {
  const { queue } = aQueue();
  queue.send(aMessage('a'));
  expect(queue.settle(take(queue), { kind: 'complete' })).toEqual({ kind: 'settled' });
  expect(queue.counts()).toEqual({ active: 0, scheduled: 0, deferred: 0, deadLetter: 0, transferDeadLetter: 0 });
});

test('puts abandoned messages back at the head, in their old order', () => {
  const { queue } = aQueue();
  for (const id of ['a', 'b', 'c']) queue.send(aMessage(id));
  const [a, b] = [take(queue), take(queue)];
  queue.settle(b, { kind: 'abandon' });
  queue.settle(a, { kind: 'abandon' });
  expect(receivedIds(queue)).toEqual(['a', 'b', 'c']);
});

test('counts a delivery that was abandoned, but none that was released', () => {
  const { queue } = aQueue({ maxDeliveryCount: 10 });
  queue.send(aMessage('a'));
  queue.settle(take(queue), { kind: 'abandon' });
  queue.settle(take(queue), { kind: 'release' });
  expect(queue.receive()?.deliveryCount).toBe(1);
});

test('returns a message when its lock ends, and counts the delivery', () => {
  const { queue, pass } = aQueue({ lockDurationInMs: 30_000 });
  queue.send(aMessage('a'));
  queue.receive();
  pass(29_999);
  expect(queue.receive()).toBeUndefined();
  pass(1);
  expect(queue.receive()?.deliveryCount).toBe(1);
});

test.each(['complete', 'abandon', 'defer', 'deadLetter', 'release'] as const)(
  'refuses a %s after the lock has ended',
  (kind) => {
    const { queue, passUnnoticed } = aQueue({ lockDurationInMs: 30_000 });
    queue.send(aMessage('a'));
    const token = take(queue);
    passUnnoticed(30_000);
    expect(queue.settle(token, { kind })).toEqual({ kind: 'lockLost' });
    expect(queue.receive()?.message.content.messageId).toBe('a');
  },
);

test('refuses a second settlement of one delivery', () => {
  const { queue } = aQueue();
  queue.send(aMessage('a'));
  const token = take(queue);
  queue.settle(token, { kind: 'abandon' });
  expect(queue.settle(token, { kind: 'complete' })).toEqual({ kind: 'lockLost' });
  expect(receivedIds(queue)).toEqual(['a']);
});

test('renews a lock for a whole lock duration from now', () => {
  const { queue, pass } = aQueue({ lockDurationInMs: 30_000 });
  queue.send(aMessage('a'));
  const token = take(queue);
  pass(20_000);
  expect(queue.renew(token)).toEqual({ kind: 'renewed', lockedUntilUtc: NOON_UTC + 50_000 });
  pass(29_999);
  expect(queue.settle(token, { kind: 'complete' })).toEqual({ kind: 'settled' });
});

test('renews no lock that has ended', () => {
  const { queue, passUnnoticed } = aQueue({ lockDurationInMs: 30_000 });
  queue.send(aMessage('a'));
  const token = take(queue);
  passUnnoticed(30_000);
  expect(queue.renew(token)).toEqual({ kind: 'lockLost' });
});

test('dead-letters a message after its last delivery has failed, with the number of deliveries', () => {
  const { queue, deadLetters: dlq, pass } = aQueue({ maxDeliveryCount: 3, lockDurationInMs: 30_000 });
  queue.send(aMessage('a'));
  queue.settle(take(queue), { kind: 'abandon' });
  queue.receive();
  pass(30_000);
  expect(deadLetters(dlq)).toEqual([]);
  queue.settle(take(queue), { kind: 'abandon' });
  expect(deadLetters(dlq)).toEqual([
    {
      id: 'a',
      sequenceNumber: 1,
      deliveryCount: 3,
      properties: {
        DeadLetterReason: 'MaxDeliveryCountExceeded',
        DeadLetterErrorDescription: 'Message could not be consumed after 3 delivery attempts.',
      },
    },
  ]);
  expect(queue.receive()).toBeUndefined();
});

test('dead-letters on demand with reason, description and properties, and keeps the sequence number', () => {
  const { queue, deadLetters: dlq } = aQueue();
  for (const id of ['a', 'b']) queue.send(aMessage(id));
  take(queue);
  const properties = new Map([['retry-attempt', '2']]);
  queue.settle(take(queue), { kind: 'deadLetter', reason: 'SchemaViolation', description: 'amount', properties });
  expect(deadLetters(dlq)).toEqual([
    {
      id: 'b',
      sequenceNumber: 2,
      deliveryCount: 0,
      properties: { 'retry-attempt': '2', DeadLetterReason: 'SchemaViolation', DeadLetterErrorDescription: 'amount' },
    },
  ]);
});

test('never expires a dead letter, never counts it out, and refuses to dead-letter it again', () => {
  const { queue, deadLetters: dlq, pass } = aQueue({ maxDeliveryCount: 1, defaultTimeToLiveInMs: 1000 });
  queue.send(aMessage('a'));
  queue.settle(take(queue), { kind: 'abandon' });
  pass(10_000);
  for (let delivery = 0; delivery < 5; delivery++) dlq.settle(take(dlq), { kind: 'abandon' });
  const token = take(dlq);
  expect(dlq.settle(token, { kind: 'deadLetter' })).toMatchObject({ kind: 'unsupported' });
  expect(dlq.settle(token, { kind: 'complete' })).toEqual({ kind: 'settled' });
});

test('removes a message as it hands it over in receive-and-delete mode', () => {
  const { queue } = aQueue();
  queue.send(aMessage('a'));
  expect(queue.receive('receiveAndDelete')).toMatchObject({ lockToken: undefined, deliveryCount: 0 });
  expect(queue.peek(0, 10)).toEqual([]);
});

test('hands a deferred message over by its number only, and defers it again when that lock ends', () => {
  const { queue, pass } = aQueue({ lockDurationInMs: 30_000 });
  queue.send(aMessage('a'));
  queue.settle(take(queue), { kind: 'defer' });
  expect(queue.receive()).toBeUndefined();
  expect(queue.receiveDeferred(1)?.deliveryCount).toBe(0);
  expect(queue.receiveDeferred(1)).toBeUndefined();
  pass(30_000);
  expect(queue.receive()).toBeUndefined();
  expect(queue.receiveDeferred(1)?.deliveryCount).toBe(1);
});

test('shows every message in the order of the sequence numbers without touching it', () => {
  const { queue } = aQueue();
  for (const id of ['locked', 'deferred', 'active']) queue.send(aMessage(id));
  take(queue);
  queue.settle(take(queue), { kind: 'defer' });
  queue.schedule(aMessage('scheduled'), NOON_UTC + 1000);
  const shown = queue.peek(0, 10).map(({ content, state }) => [content.messageId, state]);
  expect(shown).toEqual([
    ['locked', 'locked'],
    ['deferred', 'deferred'],
    ['active', 'active'],
    ['scheduled', 'scheduled'],
  ]);
  expect(queue.peek(2, 2).map(({ sequenceNumber }) => sequenceNumber)).toEqual([2, 3]);
  expect(receivedIds(queue)).toEqual(['active']);
});

test('tells a watcher of every message that becomes receivable', () => {
  const { queue, pass } = aQueue({ lockDurationInMs: 30_000 });
  let calls = 0;
  const unwatch = queue.watch(() => calls++);
  queue.send(aMessage('a'));
  queue.settle(take(queue), { kind: 'abandon' });
  take(queue);
  pass(30_000);
  expect(calls).toBe(3);
  unwatch();
  queue.send(aMessage('b'));
  expect(calls).toBe(3);
});
