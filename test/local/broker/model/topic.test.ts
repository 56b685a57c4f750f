import { expect, test } from 'vitest';
import { defaultRule, type Rule, sqlAction, sqlFilter } from '../../../../local/broker/model/filter/rule.ts';
import { Namespace } from '../../../../local/broker/model/namespace.ts';
import type { Queue } from '../../../../local/broker/model/queue.ts';
import { defaultQueueSettings, type QueueSettings } from '../../../../local/broker/model/queue-settings.ts';
import type { TopicSettings } from '../../../../local/broker/model/topic.ts';
import { aMessage, NOON_UTC, receivedIds } from './a-queue.ts';

type Queues = Record<string, Partial<QueueSettings>>;
type Subscriptions = Record<string, { queue?: Partial<QueueSettings>; rules?: Rule[] }>;

function aNamespace(queues: Queues, subscriptions: Subscriptions = {}, topic: Partial<TopicSettings> = {}) {
  let nowUtc = NOON_UTC;
  const settings = (partial: Partial<QueueSettings> = {}) => ({ ...defaultQueueSettings, ...partial });
  const namespace = new Namespace({
    clock: { now: () => nowUtc },
    queues: new Map(Object.entries(queues).map(([name, partial]) => [name, settings(partial)])),
    topics: new Map([
      [
        'events',
        {
          defaultTimeToLiveInMs: 3_600_000,
          duplicateDetectionWindowInMs: undefined,
          subscriptions: new Map(
            Object.entries(subscriptions).map(([name, { queue, rules = [defaultRule] }]) => [
              name,
              { queue: settings(queue), rules },
            ]),
          ),
          ...topic,
        },
      ],
    ]),
  });
  const pass = (inMs: number) => {
    nowUtc += inMs;
    namespace.advance();
  };
  return { namespace, pass };
}

function reasons(queue: Queue) {
  return queue.peek(0, 10).map(({ content, properties }) => [content.messageId, properties?.get('DeadLetterReason')]);
}

const coloured = (id: string, colour: string) =>
  aMessage(id, { fields: { messageId: id, applicationProperties: new Map([['colour', colour]]) } });
const rule = (name: string, text: string, action?: string): Rule => ({
  name,
  filter: sqlFilter(text),
  action: action === undefined ? undefined : sqlAction(action),
});

test('gives each subscription its own copy of what its rules select', () => {
  const { namespace } = aNamespace(
    {},
    { all: {}, red: { rules: [rule('red', "colour = 'red'")] }, none: { rules: [] } },
  );
  namespace.topic('events').send(coloured('a', 'red'));
  namespace.topic('events').send(coloured('b', 'blue'));
  expect(receivedIds(namespace.queue('events/Subscriptions/all'))).toEqual(['a', 'b']);
  expect(receivedIds(namespace.queue('EVENTS/subscriptions/RED'))).toEqual(['a']);
  expect(receivedIds(namespace.queue('events/Subscriptions/none'))).toEqual([]);
});

test('makes one copy for all rules without an action, and one for each with one', () => {
  const rules = [rule('one', '1=1'), rule('two', '1=1'), rule('three', '1=1', "SET colour = 'green'; SET n = 3")];
  const { namespace } = aNamespace({}, { s: { rules } });
  namespace.topic('events').send(coloured('a', 'red'));
  const copies = namespace.queue('events/Subscriptions/s').peek(0, 10);
  expect(copies.map(({ properties }) => Object.fromEntries(properties ?? []))).toEqual([
    {},
    { colour: 'green', n: 3, RuleName: 'three' },
  ]);
});

test('holds a scheduled message in the topic and gives it out when it is due', () => {
  const { namespace, pass } = aNamespace({}, { s: {} });
  const { sequenceNumber } = namespace.topic('events').send(aMessage('cancelled'), NOON_UTC + 1000) as {
    sequenceNumber: number;
  };
  namespace.topic('events').send(aMessage('kept'), NOON_UTC + 1000);
  expect(namespace.topic('events').inlet.cancel(sequenceNumber)).toBe(true);
  pass(1000);
  expect(receivedIds(namespace.queue('events/Subscriptions/s'))).toEqual(['kept']);
});

test('detects duplicates for the whole topic', () => {
  const { namespace } = aNamespace({}, { s: {} }, { duplicateDetectionWindowInMs: 60_000 });
  namespace.topic('events').send(aMessage('a'));
  expect(namespace.topic('events').send(aMessage('a')).kind).toBe('duplicate');
  expect(receivedIds(namespace.queue('events/Subscriptions/s'))).toEqual(['a']);
});

test('caps the time to live by the topic', () => {
  const { namespace, pass } = aNamespace({}, { s: {} }, { defaultTimeToLiveInMs: 1000 });
  namespace.topic('events').send(aMessage('a', { timeToLiveInMs: 50_000 }));
  pass(999);
  expect(namespace.queue('events/Subscriptions/s').counts().active).toBe(1);
  pass(1);
  expect(namespace.queue('events/Subscriptions/s').counts().active).toBe(0);
});

test('forwards what a subscription gets to a queue, with the number it was sent under', () => {
  const { namespace } = aNamespace({ billing: {} }, { s: { queue: { forwardTo: 'billing' } } });
  // The numbers of topic, subscription and queue must not agree by chance.
  namespace.topic('events').inlet.nextSequenceNumber();
  namespace.queue('billing').send(aMessage('before'));
  namespace.topic('events').send(aMessage('a'));
  namespace.topic('events').send(aMessage('b'));
  const forwarded = namespace.queue('billing').peek(2, 10);
  expect(forwarded.map(({ sequenceNumber, enqueueSequenceNumber }) => [sequenceNumber, enqueueSequenceNumber])).toEqual(
    [
      [2, 2],
      [3, 3],
    ],
  );
  expect(namespace.queue('events/Subscriptions/s').inlet.nextSequenceNumber()).toBe(3);
  expect(namespace.queue('events/Subscriptions/s').counts().active).toBe(0);
});

test('follows a chain of four steps and dead-letters where the fifth would begin', () => {
  const chain = Object.fromEntries([0, 1, 2, 3, 4].map((n) => [`q${n}`, { forwardTo: `q${n + 1}` }]));
  const { namespace } = aNamespace({ ...chain, q5: {} });
  namespace.queue('q1').send(aMessage('four steps'));
  namespace.queue('q0').send(aMessage('five steps'));
  expect(receivedIds(namespace.queue('q5'))).toEqual(['four steps']);
  expect(reasons(namespace.queue('q4/$DeadLetterQueue'))).toEqual([['five steps', 'MaxTransferHopCountExceeded']]);
});

test('counts a topic and its subscription as one step of a chain', () => {
  const { namespace } = aNamespace(
    { a: { forwardTo: 'events' }, b: { forwardTo: 'c' }, c: { forwardTo: 'd' }, d: {} },
    { s: { queue: { forwardTo: 'b' } } },
  );
  namespace.topic('events').inlet.nextSequenceNumber();
  namespace.queue('a').send(aMessage('m'));
  expect(namespace.queue('d').peek(0, 10)).toMatchObject([{ content: { messageId: 'm' }, enqueueSequenceNumber: 1 }]);
});

test('ends a ring of queues in a dead-letter queue', () => {
  const { namespace } = aNamespace({ a: { forwardTo: 'b' }, b: { forwardTo: 'a' } });
  namespace.queue('a').send(aMessage('m'));
  expect(reasons(namespace.queue('a/$DeadLetterQueue'))).toEqual([['m', 'MaxTransferHopCountExceeded']]);
});

test('ends a ring through a topic too', () => {
  const { namespace } = aNamespace({ a: { forwardTo: 'events' } }, { s: { queue: { forwardTo: 'a' } } });
  namespace.queue('a').send(aMessage('m'));
  expect(reasons(namespace.queue('a/$DeadLetterQueue'))).toEqual([['m', 'MaxTransferHopCountExceeded']]);
});

test('sets a message aside with the reason when it cannot be forwarded', () => {
  const { namespace } = aNamespace({
    lost: { forwardTo: 'nowhere' },
    unfit: { forwardTo: 'sessions' },
    sessions: { requiresSession: true },
  });
  namespace.queue('lost').send(aMessage('a'));
  namespace.queue('unfit').send(aMessage('b'));
  expect(reasons(namespace.queue('lost/$Transfer/$DeadLetterQueue'))).toEqual([['a', 'MessagingEntityNotFound']]);
  expect(reasons(namespace.queue('unfit/$Transfer/$DeadLetterQueue'))).toEqual([['b', 'Session ID is null']]);
  expect(namespace.queue('lost').counts()).toMatchObject({ active: 0, transferDeadLetter: 1 });
});

test('forwards a scheduled message when it is due, and judges duplicates at its target', () => {
  const { namespace, pass } = aNamespace({
    from: { forwardTo: 'to' },
    to: { duplicateDetectionWindowInMs: 60_000 },
  });
  namespace.queue('from').schedule(aMessage('m'), NOON_UTC + 1000);
  expect(namespace.queue('to').counts().active).toBe(0);
  pass(1000);
  namespace.queue('from').send(aMessage('m'));
  expect(receivedIds(namespace.queue('to'))).toEqual(['m']);
});

test('forwards dead letters with their reason and where they come from', () => {
  const { namespace, pass } = aNamespace({
    work: { forwardDeadLetteredMessagesTo: 'graves', deadLetteringOnMessageExpiration: true, maxDeliveryCount: 1 },
    graves: {},
  });
  const work = namespace.queue('work');
  work.send(aMessage('expired', { timeToLiveInMs: 1000 }));
  pass(1000);
  work.send(aMessage('abandoned'));
  work.settle(work.receive()?.lockToken ?? '', { kind: 'abandon' });
  const graves = namespace.queue('graves').peek(0, 10);
  expect(graves.map(({ deadLetterSource, sequenceNumber }) => [deadLetterSource, sequenceNumber])).toEqual([
    ['work', 1],
    ['work', 2],
  ]);
  expect(reasons(namespace.queue('graves'))).toEqual([
    ['expired', 'TTLExpiredException'],
    ['abandoned', 'MaxDeliveryCountExceeded'],
  ]);
  expect(work.counts()).toMatchObject({ active: 0, deadLetter: 0 });
});

test('gives a dead letter forwarded to a topic to those whose rules look at its reason', () => {
  const rules = [rule('expired', "DeadLetterReason = 'TTLExpiredException'")];
  const { namespace, pass } = aNamespace(
    { work: { forwardDeadLetteredMessagesTo: 'events', deadLetteringOnMessageExpiration: true } },
    { expired: { rules } },
  );
  namespace.queue('work').send(aMessage('a', { timeToLiveInMs: 1000 }));
  pass(1000);
  expect(receivedIds(namespace.queue('events/Subscriptions/expired'))).toEqual(['a']);
});

test('keeps a copy without a session among the dead letters of a subscription that has sessions', () => {
  const { namespace } = aNamespace({}, { ordered: { queue: { requiresSession: true } }, plain: {} });
  expect(namespace.topic('events').send(aMessage('a')).kind).toBe('enqueued');
  const dead = namespace.queue('events/Subscriptions/ordered/$DeadLetterQueue');
  expect(reasons(dead)).toEqual([['a', 'Session ID is null.']]);
  expect(receivedIds(namespace.queue('events/Subscriptions/plain'))).toEqual(['a']);
});

test('keeps apart what a subscription dead-letters for want of a session and what was sent in one', () => {
  const { namespace } = aNamespace({}, { ordered: { queue: { requiresSession: true } } });
  const topic = namespace.topic('events');
  topic.send(aMessage('in a session', { sessionId: 's' }));
  topic.send(aMessage('in none'));
  const queue = namespace.queue('events/Subscriptions/ordered');
  const { lockToken = '' } = queue.receive('peekLock', queue.sessions?.accept('s')) ?? {};
  queue.settle(lockToken, { kind: 'deadLetter', reason: 'mine' });
  expect(reasons(namespace.queue('events/Subscriptions/ordered/$DeadLetterQueue'))).toEqual([
    ['in a session', 'mine'],
    ['in none', 'Session ID is null.'],
  ]);
});

test('goes on to collect messages in a subscription that gives none at present', () => {
  const { namespace } = aNamespace({}, { s: { queue: { status: 'Disabled' } } });
  namespace.topic('events').send(aMessage('a'));
  const queue = namespace.queue('events/Subscriptions/s');
  expect(queue.receive()).toBeUndefined();
  queue.update({ ...queue.settings, status: 'Active' });
  expect(receivedIds(queue)).toEqual(['a']);
});

test('refuses sends once the topic and its subscriptions hold all that they may, and takes them again', () => {
  const { namespace } = aNamespace({}, { one: {}, two: {} }, { maxSizeInBytes: 25 });
  const topic = namespace.topic('events');
  const content = (id: string) => aMessage(id, { bytes: Buffer.alloc(10) });
  expect(topic.send(content('a')).kind).toBe('enqueued');
  expect(topic.send(content('b'))).toEqual({
    kind: 'refused',
    reason: 'quotaExceeded',
    detail: "The maximum entity size has been reached or exceeded for 'events': 25 bytes.",
  });
  namespace.queue('events/Subscriptions/two').receive('receiveAndDelete');
  expect(topic.send(content('b')).kind).toBe('enqueued');
});
