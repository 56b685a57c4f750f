import { expect, test } from 'vitest';
import { defaultRule } from '../../../../local/broker/model/filter/rule.ts';
import { Namespace } from '../../../../local/broker/model/namespace.ts';
import { defaultQueueSettings } from '../../../../local/broker/model/queue-settings.ts';
import { aMessage, aQueue, NOON_UTC } from './a-queue.ts';

const topicSettings = {
  defaultTimeToLiveInMs: Number.POSITIVE_INFINITY,
  duplicateDetectionWindowInMs: undefined,
  subscriptions: new Map(),
};
const subscription = { queue: defaultQueueSettings, rules: [defaultRule] };

function aNamespace(): Namespace {
  return new Namespace({ clock: { now: () => NOON_UTC }, queues: new Map() });
}

test('gives a subscription that was added later what is sent from then on', () => {
  const namespace = aNamespace();
  const topic = namespace.addTopic('events', topicSettings);
  topic.send(aMessage('early'));
  const { queue } = namespace.addSubscription(topic, 'all', subscription);
  topic.send(aMessage('late'));
  expect(queue.peek(0, 10).map(({ content }) => content.messageId)).toEqual(['late']);
  expect(namespace.find('events/subscriptions/ALL/$deadletterqueue')).toBe(queue.deadLetterQueue);
});

test('lists queues that stand alone and topics, without subscriptions and dead-letter queues', () => {
  const namespace = aNamespace();
  const topic = namespace.addTopic('events', topicSettings);
  namespace.addSubscription(topic, 'all', subscription);
  const queue = namespace.addQueue('orders', defaultQueueSettings);
  expect(namespace.queues()).toEqual([queue]);
  expect(namespace.topics()).toEqual([topic]);
});

test('removes a topic with its subscriptions, and names all that is gone', () => {
  const namespace = aNamespace();
  const topic = namespace.addTopic('events', topicSettings);
  namespace.addSubscription(topic, 'all', subscription);
  const gone: string[] = [];
  namespace.onRemoved((path) => gone.push(path));
  expect(namespace.remove('EVENTS')).toBe(true);
  expect(gone).toEqual([
    'events/Subscriptions/all',
    'events/Subscriptions/all/$DeadLetterQueue',
    'events/Subscriptions/all/$Transfer/$DeadLetterQueue',
    'events',
  ]);
  expect([namespace.find('events'), namespace.findSubscription('events/subscriptions/all')]).toEqual([
    undefined,
    undefined,
  ]);
  expect(namespace.remove('events')).toBe(false);
});

test('removes a subscription alone: the topic no longer copies to it', () => {
  const namespace = aNamespace();
  const topic = namespace.addTopic('events', topicSettings);
  const { queue } = namespace.addSubscription(topic, 'all', subscription);
  namespace.remove('events/subscriptions/all');
  topic.send(aMessage('m-1'));
  expect([topic.subscriptions.size, queue.counts().active, namespace.topics()]).toEqual([0, 0, [topic]]);
});

test('forgets everything of a removed queue, so that nothing in it falls due any more', () => {
  const { namespace, queue } = aQueue({ defaultTimeToLiveInMs: 60_000, deadLetteringOnMessageExpiration: true });
  queue.send(aMessage('waiting'));
  queue.schedule(aMessage('scheduled'), NOON_UTC + 60_000);
  queue.send(aMessage('held'));
  queue.receive();
  namespace.remove('orders');
  expect(namespace.nextDueInMs()).toBe(Number.POSITIVE_INFINITY);
});

test('takes nothing into a queue or a topic that was removed', () => {
  const namespace = aNamespace();
  const removed = [namespace.addQueue('orders', defaultQueueSettings), namespace.addTopic('events', topicSettings)];
  for (const { path } of removed) namespace.remove(path);
  expect(removed.map((entity) => entity.send(aMessage('m-1')).kind)).toEqual(['refused', 'refused']);
});

test('locks for the new duration after an update, and keeps the locks that there are', () => {
  const { queue } = aQueue({ lockDurationInMs: 30_000 });
  queue.send(aMessage('first'));
  queue.send(aMessage('second'));
  const first = queue.receive();
  queue.update({ ...queue.settings, lockDurationInMs: 60_000 });
  expect([first?.lockedUntilUtc, queue.receive()?.lockedUntilUtc]).toEqual([NOON_UTC + 30_000, NOON_UTC + 60_000]);
});

test('remembers ids for the new window after an update', () => {
  const { queue, passUnnoticed } = aQueue({ duplicateDetectionWindowInMs: 60_000 });
  queue.send(aMessage('long'));
  queue.update({ ...queue.settings, duplicateDetectionWindowInMs: 10_000 });
  queue.send(aMessage('short'));
  passUnnoticed(20_000);
  expect([queue.send(aMessage('short')).kind, queue.send(aMessage('long')).kind]).toEqual(['enqueued', 'duplicate']);
});

test.each([
  ['Active', 'enqueued', true],
  ['SendDisabled', 'refused', true],
  ['ReceiveDisabled', 'enqueued', false],
  ['Disabled', 'refused', false],
] as const)('while %s, a send is %s and giving messages is %s', (status, kind, gives) => {
  const { queue } = aQueue();
  queue.send(aMessage('m-1'));
  queue.update({ ...queue.settings, status });
  expect([queue.send(aMessage('m-2')).kind, queue.receive() !== undefined]).toEqual([kind, gives]);
});

test('tells its watchers when it gives messages again', () => {
  const { queue } = aQueue();
  queue.send(aMessage('m-1'));
  queue.update({ ...queue.settings, status: 'ReceiveDisabled' });
  const calls: (string | undefined)[] = [];
  queue.watch((sessionId) => calls.push(sessionId));
  queue.update({ ...queue.settings, status: 'Active' });
  expect(calls).toEqual([undefined]);
});

test('refuses sends to a topic that is disabled for them', () => {
  const topic = aNamespace().addTopic('events', topicSettings);
  topic.update({ ...topicSettings, status: 'SendDisabled' });
  expect(topic.send(aMessage('m-1'))).toEqual({
    kind: 'refused',
    reason: 'entityDisabled',
    detail: "The messaging entity 'events' is disabled for sends.",
  });
});
