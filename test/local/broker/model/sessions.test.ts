import { expect, test } from 'vitest';
import type { SessionHold, SessionTable } from '../../../../local/broker/model/session-table.ts';
import { aMessage, aQueue, NOON_UTC, type TestQueue } from './a-queue.ts';

type SessionQueue = TestQueue & { readonly sessions: SessionTable };

function aSessionQueue(settings: Parameters<typeof aQueue>[0] = {}): SessionQueue {
  const test = aQueue({ requiresSession: true, lockDurationInMs: 30_000, ...settings });
  const { sessions } = test.queue;
  if (sessions === undefined) throw new Error('The queue has no sessions.');
  return { ...test, sessions };
}

function accept(sessions: SessionTable, id: string): SessionHold {
  const hold = sessions.accept(id);
  if (hold === undefined) throw new Error(`The session ${id} is held.`);
  return hold;
}

const inSession = (sessionId: string, messageId: string) => aMessage(messageId, { sessionId });

test('refuses a message without a session', () => {
  const { queue } = aSessionQueue();
  expect(queue.send(aMessage('a'))).toMatchObject({ kind: 'refused', reason: 'sessionIdMissing' });
  expect(queue.counts().active).toBe(0);
});

test('hands over the messages of the held session only, in order', () => {
  const { queue, sessions } = aSessionQueue();
  for (const [session, id] of [
    ['s1', 'a'],
    ['s2', 'b'],
    ['s1', 'c'],
  ] as const)
    queue.send(inSession(session, id));
  const hold = accept(sessions, 's1');
  expect(
    [queue.receive('peekLock', hold), queue.receive('peekLock', hold)].map((d) => d?.message.content.messageId),
  ).toEqual(['a', 'c']);
  expect(queue.receive('peekLock', hold)).toBeUndefined();
  expect(queue.receive()).toBeUndefined();
});

test('gives a session to one receiver at a time', () => {
  const { sessions } = aSessionQueue();
  const hold = accept(sessions, 's1');
  expect(sessions.accept('s1')).toBeUndefined();
  sessions.release(hold);
  expect(sessions.accept('s1')?.sessionId).toBe('s1');
});

test('gives the sessions that wait to those who take any, the longest waiting first', () => {
  const { queue, sessions } = aSessionQueue();
  expect(sessions.acceptNext()).toBeUndefined();
  for (const session of ['s1', 's2', 's1']) queue.send(inSession(session, 'x'));
  expect([sessions.acceptNext(), sessions.acceptNext(), sessions.acceptNext()].map((hold) => hold?.sessionId)).toEqual([
    's1',
    's2',
    undefined,
  ]);
});

test('locks messages for as long as the session, and renews them with it', () => {
  const { queue, sessions, pass } = aSessionQueue();
  queue.send(inSession('s1', 'a'));
  const hold = accept(sessions, 's1');
  pass(10_000);
  const delivery = queue.receive('peekLock', hold);
  expect(delivery?.lockedUntilUtc).toBe(NOON_UTC + 30_000);
  expect(queue.renew(delivery?.lockToken ?? '')).toEqual({ kind: 'lockLost' });
  expect(sessions.renew(hold)).toEqual({ kind: 'renewed', lockedUntilUtc: NOON_UTC + 40_000 });
  pass(29_999);
  expect(queue.settle(delivery?.lockToken ?? '', { kind: 'complete' })).toEqual({ kind: 'settled' });
});

test('loses session and messages when the lock ends, counts the deliveries and keeps the order', () => {
  const { queue, sessions, pass } = aSessionQueue();
  for (const id of ['a', 'b', 'c']) queue.send(inSession('s1', id));
  const hold = accept(sessions, 's1');
  let lost = 0;
  hold.onLost = () => lost++;
  const first = queue.receive('peekLock', hold);
  queue.receive('peekLock', hold);
  pass(30_000);
  expect(lost).toBe(1);
  expect(queue.settle(first?.lockToken ?? '', { kind: 'complete' })).toEqual({ kind: 'lockLost' });
  expect(queue.receive('peekLock', hold)).toBeUndefined();
  expect(sessions.renew(hold)).toEqual({ kind: 'lockLost' });
  expect(sessions.setState(hold, Buffer.from('x'))).toBe(false);
  const next = accept(sessions, 's1');
  const again = [1, 2, 3].map(() => queue.receive('peekLock', next));
  expect(again.map((d) => [d?.message.content.messageId, d?.deliveryCount])).toEqual([
    ['a', 1],
    ['b', 1],
    ['c', 0],
  ]);
});

test('puts the messages of a session that was given back, in order and uncounted', () => {
  const { queue, sessions } = aSessionQueue();
  for (const id of ['a', 'b']) queue.send(inSession('s1', id));
  const hold = accept(sessions, 's1');
  queue.receive('peekLock', hold);
  queue.receive('peekLock', hold);
  sessions.release(hold);
  const next = sessions.acceptNext();
  const again = [1, 2].map(() => queue.receive('peekLock', next));
  expect(again.map((d) => [d?.message.content.messageId, d?.deliveryCount])).toEqual([
    ['a', 0],
    ['b', 0],
  ]);
});

test('lets nobody take a session before all of its messages are back', () => {
  const { queue, sessions } = aSessionQueue();
  for (const id of ['a', 'b']) queue.send(inSession('s1', id));
  const hold = accept(sessions, 's1');
  queue.receive('peekLock', hold);
  queue.receive('peekLock', hold);
  const taken: (string | undefined)[] = [];
  sessions.watch(() => {
    const next = sessions.acceptNext();
    taken.push(...[1, 2].map(() => queue.receive('peekLock', next)?.message.content.messageId));
  });
  sessions.release(hold);
  expect(taken).toEqual(['a', 'b']);
});

test('keeps a state with a session across receivers', () => {
  const { sessions } = aSessionQueue();
  const first = accept(sessions, 's1');
  expect(sessions.setState(first, Buffer.from('half done'))).toBe(true);
  sessions.release(first);
  const second = accept(sessions, 's1');
  expect(String(sessions.stateOf(second))).toBe('half done');
  sessions.setState(second, undefined);
  expect(sessions.stateOf(second)).toBeUndefined();
});

test('names the sessions whose state was set since, or those that have messages', () => {
  const { queue, sessions, pass } = aSessionQueue();
  sessions.setState(accept(sessions, 'old'), Buffer.from('x'));
  pass(1000);
  sessions.setState(accept(sessions, 'new'), Buffer.from('x'));
  queue.send(inSession('waiting', 'a'));
  expect(sessions.ids(NOON_UTC)).toEqual(['new']);
  expect(sessions.ids(Number.POSITIVE_INFINITY)).toEqual(['waiting']);
});

test('hands a deferred message over to the receiver of its session only', () => {
  const { queue, sessions } = aSessionQueue();
  queue.send(inSession('s1', 'a'));
  const hold = accept(sessions, 's1');
  queue.settle(queue.receive('peekLock', hold)?.lockToken ?? '', { kind: 'defer' });
  expect(queue.receiveDeferred(1)).toBeUndefined();
  expect(queue.receiveDeferred(1, 'peekLock', accept(sessions, 's2'))).toBeUndefined();
  expect(queue.receiveDeferred(1, 'peekLock', hold)?.message.content.messageId).toBe('a');
});

test('judges duplicates within a session', () => {
  const { queue } = aSessionQueue({ duplicateDetectionWindowInMs: 60_000 });
  queue.send(inSession('s1', 'same'));
  expect(queue.send(inSession('s2', 'same')).kind).toBe('enqueued');
  expect(queue.send(inSession('s1', 'same')).kind).toBe('duplicate');
});

test('dead-letters into a queue without sessions', () => {
  const { queue, sessions, deadLetters } = aSessionQueue();
  queue.send(inSession('s1', 'a'));
  const delivery = queue.receive('peekLock', accept(sessions, 's1'));
  queue.settle(delivery?.lockToken ?? '', { kind: 'deadLetter' });
  expect(deadLetters.receive()?.message.content.messageId).toBe('a');
});

test('does not bring back what was completed when the session is lost later', () => {
  const { queue, sessions, pass } = aSessionQueue();
  queue.send(inSession('s1', 'a'));
  const delivery = queue.receive('peekLock', accept(sessions, 's1'));
  queue.settle(delivery?.lockToken ?? '', { kind: 'complete' });
  pass(30_000);
  expect(sessions.acceptNext()).toBeUndefined();
  expect(queue.receive('peekLock', accept(sessions, 's1'))).toBeUndefined();
});

test('does not expire a message while its session is held, and does when it is given back', () => {
  const { queue, sessions, pass } = aSessionQueue();
  queue.send(aMessage('a', { sessionId: 's1', timeToLiveInMs: 5000 }));
  const hold = accept(sessions, 's1');
  queue.receive('peekLock', hold);
  pass(6000);
  expect(queue.counts().active).toBe(1);
  sessions.release(hold);
  expect(queue.counts().active).toBe(0);
});

test('offers no session whose messages have all expired', () => {
  const { queue, sessions, pass } = aSessionQueue();
  queue.send(aMessage('a', { sessionId: 's1', timeToLiveInMs: 5000 }));
  pass(5000);
  expect(sessions.acceptNext()).toBeUndefined();
});
