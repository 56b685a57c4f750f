import { expect, test } from 'vitest';
import { aMessage, aQueue, NOON_UTC, receivedIds } from './a-queue.ts';

const MINUTE_IN_MS = 60_000;
const DAY_IN_MS = 86_400_000;

test('holds a scheduled message until its instant and gives it a new sequence number then', () => {
  const { queue, pass } = aQueue();
  expect(queue.schedule(aMessage('later'), NOON_UTC + 5000)).toEqual({ kind: 'scheduled', sequenceNumber: 1 });
  queue.send(aMessage('now'));
  pass(4999);
  expect(receivedIds(queue)).toEqual(['now']);
  pass(1);
  const { message } = queue.receive() ?? {};
  expect(message).toMatchObject({ sequenceNumber: 3, enqueuedUtc: NOON_UTC + 5000, enqueueSequenceNumber: 1 });
});

test('sends at once what is scheduled for an instant that has passed', () => {
  const { queue } = aQueue();
  expect(queue.schedule(aMessage('a'), NOON_UTC)).toEqual({ kind: 'enqueued', sequenceNumber: 1 });
});

test('cancels a scheduled message once, and none that is due', () => {
  const { queue, pass, passUnnoticed } = aQueue();
  queue.schedule(aMessage('a'), NOON_UTC + 5000);
  expect(queue.cancel(1)).toBe(true);
  expect(queue.cancel(1)).toBe(false);
  pass(5000);
  expect(receivedIds(queue)).toEqual([]);
  queue.schedule(aMessage('b'), NOON_UTC + 6000);
  passUnnoticed(1000);
  expect(queue.cancel(2)).toBe(false);
});

test('does not fire a message scheduled 60 days ahead before its time', () => {
  const { namespace, queue, pass } = aQueue();
  queue.schedule(aMessage('a'), NOON_UTC + 60 * DAY_IN_MS);
  expect(namespace.nextDueInMs()).toBe(60 * DAY_IN_MS);
  pass(60 * DAY_IN_MS - 1);
  expect(receivedIds(queue)).toEqual([]);
  pass(1);
  expect(receivedIds(queue)).toEqual(['a']);
});

test('activates messages in the order of their instants even when woken late', () => {
  const { queue, pass } = aQueue();
  queue.schedule(aMessage('third'), NOON_UTC + 3000);
  queue.schedule(aMessage('first'), NOON_UTC + 1000);
  queue.schedule(aMessage('second'), NOON_UTC + 2000);
  pass(DAY_IN_MS / 48);
  expect(receivedIds(queue)).toEqual(['first', 'second', 'third']);
});

test('says when something falls due next, and that nothing does', () => {
  const { namespace, queue } = aQueue({ defaultTimeToLiveInMs: Number.POSITIVE_INFINITY, lockDurationInMs: 30_000 });
  expect(namespace.nextDueInMs()).toBe(Number.POSITIVE_INFINITY);
  queue.send(aMessage('a'));
  const token = queue.receive()?.lockToken ?? '';
  expect(namespace.nextDueInMs()).toBe(30_000);
  queue.settle(token, { kind: 'complete' });
  expect(namespace.nextDueInMs()).toBe(Number.POSITIVE_INFINITY);
});

test.each([
  ['the default of the queue', undefined, MINUTE_IN_MS],
  ['its own time to live', 10_000, 10_000],
  ['no more than the default of the queue', 2 * MINUTE_IN_MS, MINUTE_IN_MS],
])('drops a message after %s', (_name, timeToLiveInMs, expectedInMs) => {
  const { queue, pass } = aQueue({ defaultTimeToLiveInMs: MINUTE_IN_MS });
  queue.send(aMessage('a', { timeToLiveInMs }));
  pass(expectedInMs - 1);
  expect(queue.counts().active).toBe(1);
  pass(1);
  expect(queue.counts()).toMatchObject({ active: 0, deadLetter: 0 });
  expect(queue.receive()).toBeUndefined();
});

test('dead-letters an expired message where the queue says so', () => {
  const { queue, deadLetters, pass } = aQueue({
    deadLetteringOnMessageExpiration: true,
    defaultTimeToLiveInMs: MINUTE_IN_MS,
  });
  queue.send(aMessage('a'));
  pass(MINUTE_IN_MS);
  expect(Object.fromEntries(deadLetters.peek(0, 1)[0]?.properties ?? [])).toEqual({
    DeadLetterReason: 'TTLExpiredException',
    DeadLetterErrorDescription: 'The message expired and was dead lettered.',
  });
  expect(queue.receive()).toBeUndefined();
  expect(receivedIds(deadLetters)).toEqual(['a']);
});

test('starts the time to live of a scheduled message when it becomes active', () => {
  const { queue, pass } = aQueue({ defaultTimeToLiveInMs: MINUTE_IN_MS });
  queue.schedule(aMessage('a'), NOON_UTC + 10 * MINUTE_IN_MS);
  pass(11 * MINUTE_IN_MS - 1);
  expect(queue.counts().active).toBe(1);
  pass(1);
  expect(queue.counts().active).toBe(0);
});

test('leaves a locked message alone when it expires, and applies the expiry when the lock ends', () => {
  const { queue, deadLetters, pass } = aQueue({
    deadLetteringOnMessageExpiration: true,
    defaultTimeToLiveInMs: MINUTE_IN_MS,
    lockDurationInMs: 2 * MINUTE_IN_MS,
  });
  for (const id of ['completed', 'abandoned', 'left']) queue.send(aMessage(id));
  const [completed = '', abandoned = ''] = [queue.receive(), queue.receive(), queue.receive()].map((d) => d?.lockToken);
  pass(MINUTE_IN_MS);
  expect(queue.settle(completed, { kind: 'complete' })).toEqual({ kind: 'settled' });
  queue.settle(abandoned, { kind: 'abandon' });
  expect(receivedIds(deadLetters)).toEqual(['abandoned']);
  pass(MINUTE_IN_MS);
  expect(receivedIds(deadLetters)).toEqual(['left']);
});

test('expires a deferred message', () => {
  const { queue, pass } = aQueue({ defaultTimeToLiveInMs: MINUTE_IN_MS });
  queue.send(aMessage('a'));
  queue.settle(queue.receive()?.lockToken ?? '', { kind: 'defer' });
  pass(MINUTE_IN_MS);
  expect(queue.receiveDeferred(1)).toBeUndefined();
  expect(queue.counts()).toMatchObject({ active: 0, deferred: 0 });
});

test('drops a duplicate within the window, tells its sender that it was sent, and does not prolong the window', () => {
  const { queue, pass } = aQueue({ duplicateDetectionWindowInMs: MINUTE_IN_MS });
  queue.send(aMessage('a'));
  pass(MINUTE_IN_MS - 1);
  expect(queue.send(aMessage('a'))).toEqual({ kind: 'duplicate', sequenceNumber: 2 });
  pass(1);
  expect(queue.send(aMessage('a'))).toEqual({ kind: 'enqueued', sequenceNumber: 3 });
});

test('remembers an id after its message was consumed or cancelled', () => {
  const { queue } = aQueue({ duplicateDetectionWindowInMs: MINUTE_IN_MS });
  queue.send(aMessage('consumed'));
  queue.receive('receiveAndDelete');
  queue.schedule(aMessage('cancelled'), NOON_UTC + 1000);
  queue.cancel(2);
  expect(queue.send(aMessage('consumed')).kind).toBe('duplicate');
  expect(queue.schedule(aMessage('cancelled'), NOON_UTC + 1000).kind).toBe('duplicate');
});

test('detects duplicates among scheduled messages when they are sent, not when they are due', () => {
  const { queue, pass } = aQueue({ duplicateDetectionWindowInMs: MINUTE_IN_MS });
  queue.schedule(aMessage('a'), NOON_UTC + 10 * MINUTE_IN_MS);
  expect(queue.schedule(aMessage('a'), NOON_UTC + 20 * MINUTE_IN_MS).kind).toBe('duplicate');
  pass(2 * MINUTE_IN_MS);
  expect(queue.send(aMessage('a')).kind).toBe('enqueued');
  pass(8 * MINUTE_IN_MS);
  expect(receivedIds(queue)).toEqual(['a', 'a']);
});
