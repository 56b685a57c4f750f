import { expect, test } from 'vitest';
import { defaultRule } from '../../../../local/broker/model/filter/rule.ts';
import { defaultQueueSettings, type QueueSettings } from '../../../../local/broker/model/queue-settings.ts';
import { aBrokerOf, codeOf, receiveOne, type TestBroker } from '../a-broker.ts';

const TOPIC = 'events';

async function aTopicBroker(settings: Partial<QueueSettings> = {}): Promise<TestBroker> {
  const subscription = { queue: { ...defaultQueueSettings, ...settings }, rules: [defaultRule] };
  const subscriptions = new Map([
    ['first', subscription],
    ['second', subscription],
  ]);
  const topic = { defaultTimeToLiveInMs: 3_600_000, duplicateDetectionWindowInMs: undefined, subscriptions };
  return aBrokerOf({ queues: new Map([['billing', defaultQueueSettings]]), topics: new Map([[TOPIC, topic]]) });
}

async function rulesOf(manager: ReturnType<TestBroker['client']['createRuleManager']>) {
  const rules = [];
  for await (const rule of manager.listRules()) rules.push(rule);
  return rules;
}

test('gives every subscription a message, scheduled ones when they are due', async () => {
  const { client, pass } = await aTopicBroker();
  const sender = client.createSender(TOPIC);
  await sender.sendMessages({ body: 'now' });
  const dueUtc = new Date(Date.now() + 60_000);
  await sender.scheduleMessages({ body: 'scheduled' }, dueUtc);
  const cancelled = await sender.scheduleMessages({ body: 'cancelled' }, dueUtc);
  await sender.cancelScheduledMessages(cancelled);
  pass(61_000);
  for (const name of ['first', 'second']) {
    const messages = await client.createReceiver(TOPIC, name).receiveMessages(3, { maxWaitTimeInMs: 300 });
    expect(messages.map(({ body }) => body)).toEqual(['now', 'scheduled']);
  }
});

test('dead-letters within the subscription', async () => {
  const { client } = await aTopicBroker();
  await client.createSender(TOPIC).sendMessages({ body: 'x' });
  const receiver = client.createReceiver(TOPIC, 'first');
  await receiver.deadLetterMessage(await receiveOne(receiver), {
    deadLetterReason: 'R',
    deadLetterErrorDescription: 'D',
  });
  const dead = await receiveOne(client.createReceiver(TOPIC, 'first', { subQueueType: 'deadLetter' }));
  expect([dead.body, dead.deadLetterReason]).toEqual(['x', 'R']);
});

test('adds, lists and removes rules, which apply to what is sent after', async () => {
  const { client } = await aTopicBroker();
  const manager = client.createRuleManager(TOPIC, 'first');
  await manager.deleteRule('$Default');
  await manager.createRule('sql', { sqlExpression: 'amount > 10' }, { sqlExpression: "SET size = 'large'" });
  await manager.createRule('equal', { subject: 'urgent', applicationProperties: { colour: 'red' } });
  expect(await rulesOf(manager)).toEqual([
    { name: 'sql', filter: { sqlExpression: 'amount > 10' }, action: { sqlExpression: "SET size = 'large'" } },
    {
      name: 'equal',
      filter: expect.objectContaining({ subject: 'urgent', applicationProperties: { colour: 'red' } }),
      action: {},
    },
  ]);
  await client.createSender(TOPIC).sendMessages([
    { body: 'small', applicationProperties: { amount: 1 } },
    { body: 'large', applicationProperties: { amount: 11 } },
    { body: 'urgent', subject: 'urgent', applicationProperties: { colour: 'red' } },
  ]);
  const messages = await client.createReceiver(TOPIC, 'first').receiveMessages(3, { maxWaitTimeInMs: 300 });
  expect(messages.map(({ body, applicationProperties }) => [body, applicationProperties])).toEqual([
    ['large', { amount: 11, size: 'large', RuleName: 'sql' }],
    ['urgent', { colour: 'red' }],
  ]);
});

test('refuses a rule that exists, one that does not, and one that it does not understand', async () => {
  const { client } = await aTopicBroker();
  const manager = client.createRuleManager(TOPIC, 'first');
  expect(await codeOf(manager.createRule('$Default', { sqlExpression: '1=1' }))).toBe('MessagingEntityAlreadyExists');
  expect(await codeOf(manager.deleteRule('nowhere'))).toBe('MessagingEntityNotFound');
  await expect(manager.createRule('bad', { sqlExpression: 'newid() = 1' })).rejects.toThrow(/'NEWID' is not supported/);
  expect((await rulesOf(manager)).map(({ name }) => name)).toEqual(['$Default']);
});

test('refuses to receive from a topic, to send to a subscription, and to receive where all is forwarded', async () => {
  const { client } = await aTopicBroker({ forwardTo: 'billing' });
  await expect(client.createReceiver(TOPIC).receiveMessages(1)).rejects.toThrow(/cannot be received/);
  await expect(client.createReceiver(TOPIC, 'first').receiveMessages(1)).rejects.toThrow(/forwards all of them/);
  await expect(client.createSender(`${TOPIC}/Subscriptions/first`).sendMessages({ body: 1 })).rejects.toThrow(
    /cannot be sent/,
  );
});

test('forwards to a queue and shows the number it was sent under', async () => {
  const { client } = await aTopicBroker({ forwardTo: 'billing' });
  await client.createSender(TOPIC).sendMessages({ body: 'x', messageId: 'm' });
  const message = await receiveOne(client.createReceiver('billing'));
  expect(message).toMatchObject({ body: 'x', messageId: 'm', enqueuedSequenceNumber: 1 });
});
