import { expect, test } from 'vitest';
import { codeOf, receiveOne } from '../a-broker.ts';
import { anAdmin } from './an-admin.ts';

const ENDLESS = 'P10675199DT2H48M5.4775807S';

/** What the client read, without the response that it hangs beside it. */
function plain(value: object): object {
  return JSON.parse(JSON.stringify(value));
}

async function all<T extends object>(items: AsyncIterable<T>): Promise<object[]> {
  const found: object[] = [];
  for await (const item of items) found.push(plain(item));
  return found;
}

test('makes a queue, and shows what was asked for beside the defaults', async () => {
  const { admin, port } = await anAdmin();
  const made = await admin.createQueue('billing/invoices', {
    lockDuration: 'PT30S',
    maxDeliveryCount: 5,
    defaultMessageTimeToLive: 'P14D',
    requiresSession: true,
    requiresDuplicateDetection: true,
    duplicateDetectionHistoryTimeWindow: 'PT30S',
    deadLetteringOnMessageExpiration: true,
    forwardDeadLetteredMessagesTo: 'orders',
    userMetadata: 'a < b & "c"',
    autoDeleteOnIdle: 'PT1H',
  });
  const expected = {
    name: 'billing/invoices',
    lockDuration: 'PT30S',
    maxSizeInMegabytes: 1024,
    maxDeliveryCount: 5,
    enablePartitioning: false,
    requiresSession: true,
    enableBatchedOperations: true,
    defaultMessageTimeToLive: 'P14D',
    autoDeleteOnIdle: 'PT1H',
    requiresDuplicateDetection: true,
    duplicateDetectionHistoryTimeWindow: 'PT30S',
    deadLetteringOnMessageExpiration: true,
    forwardDeadLetteredMessagesTo: `sb://localhost:${port}/orders`,
    userMetadata: 'a < b & "c"',
    status: 'Active',
    enableExpress: false,
    availabilityStatus: 'Available',
    maxMessageSizeInKilobytes: 256,
  };
  expect([plain(made), plain(await admin.getQueue('billing/invoices'))]).toEqual([expected, expected]);
});

test('shows a queue that was there before', async () => {
  const { admin } = await anAdmin();
  expect(await all(admin.listQueues())).toMatchObject([
    { name: 'orders', lockDuration: 'PT1M', maxDeliveryCount: 3, defaultMessageTimeToLive: 'PT1H', status: 'Active' },
  ]);
});

test('changes a queue: what behaves differently does so at once', async () => {
  const { admin, broker } = await anAdmin();
  const queue = await admin.createQueue('q');
  const { createdAt } = await admin.getQueueRuntimeProperties('q');
  const changed = await admin.updateQueue({
    ...queue,
    lockDuration: 'PT10S',
    maxDeliveryCount: 2,
    userMetadata: 'new',
  });
  expect(plain(changed)).toEqual({
    ...plain(queue),
    lockDuration: 'PT10S',
    maxDeliveryCount: 2,
    userMetadata: 'new',
  });
  expect(broker.namespace.queue('q').settings).toMatchObject({ lockDurationInMs: 10_000, maxDeliveryCount: 2 });
  expect((await admin.getQueueRuntimeProperties('q')).createdAt).toEqual(createdAt);
});

test('makes, changes and removes a topic', async () => {
  const { admin } = await anAdmin();
  const made = await admin.createTopic('events', { defaultMessageTimeToLive: 'PT1H', userMetadata: 'm' });
  const expected = {
    name: 'events',
    maxSizeInMegabytes: 1024,
    enablePartitioning: false,
    supportOrdering: true,
    enableBatchedOperations: true,
    defaultMessageTimeToLive: 'PT1H',
    autoDeleteOnIdle: ENDLESS,
    requiresDuplicateDetection: false,
    duplicateDetectionHistoryTimeWindow: 'PT10M',
    userMetadata: 'm',
    status: 'Active',
    enableExpress: false,
    availabilityStatus: 'Available',
    maxMessageSizeInKilobytes: 256,
  };
  expect([plain(made), ...(await all(admin.listTopics()))]).toEqual([expected, expected]);
  const changed = await admin.updateTopic({ ...made, status: 'SendDisabled' });
  expect(plain(changed)).toEqual({ ...expected, status: 'SendDisabled' });
  await admin.deleteTopic('events');
  expect(await admin.topicExists('events')).toBe(false);
});

test('makes, changes and removes a subscription', async () => {
  const { admin } = await anAdmin();
  await admin.createTopic('events');
  const made = await admin.createSubscription('events', 'billing', { lockDuration: 'PT45S', maxDeliveryCount: 7 });
  const expected = {
    subscriptionName: 'billing',
    topicName: 'events',
    lockDuration: 'PT45S',
    maxDeliveryCount: 7,
    requiresSession: false,
    enableBatchedOperations: true,
    defaultMessageTimeToLive: ENDLESS,
    autoDeleteOnIdle: ENDLESS,
    deadLetteringOnMessageExpiration: false,
    deadLetteringOnFilterEvaluationExceptions: true,
    status: 'Active',
    availabilityStatus: 'Available',
  };
  expect([plain(made), ...(await all(admin.listSubscriptions('events')))]).toEqual([expected, expected]);
  expect(plain(await admin.updateSubscription({ ...made, maxDeliveryCount: 9 }))).toEqual({
    ...expected,
    maxDeliveryCount: 9,
  });
  await admin.deleteSubscription('events', 'billing');
  expect(await all(admin.listSubscriptions('events'))).toEqual([]);
});

test('makes, changes and removes rules, with values of their types', async () => {
  const { admin } = await anAdmin();
  await admin.createTopic('events');
  await admin.createSubscription('events', 'billing');
  expect(await all(admin.listRules('events', 'billing'))).toEqual([
    { name: '$Default', filter: { sqlExpression: '1=1' }, action: {} },
  ]);
  const applicationProperties = { count: 3, rate: 1.5, region: 'eu', isFirst: true };
  await admin.createRule('events', 'billing', 'by-field', {
    correlationId: 'c-1',
    subject: 's',
    applicationProperties,
  });
  const action = { sqlExpression: "SET priority = 'high'" };
  const rule = await admin.createRule('events', 'billing', 'by-sql', { sqlExpression: 'amount > 100' }, action);
  await admin.updateRule('events', 'billing', { ...rule, filter: { sqlExpression: 'amount > 200' } });
  await admin.deleteRule('events', 'billing', '$Default');
  expect(await all(admin.listRules('events', 'billing'))).toEqual([
    { name: 'by-field', filter: { correlationId: 'c-1', subject: 's', applicationProperties }, action: {} },
    { name: 'by-sql', filter: { sqlExpression: 'amount > 200' }, action },
  ]);
});

test('shows the values of the parameters of an expression', async () => {
  const { admin, client } = await anAdmin();
  await admin.createTopic('events');
  await admin.createSubscription('events', 'large', {
    defaultRuleOptions: {
      name: 'large',
      filter: { sqlExpression: 'amount > @least', sqlParameters: { '@least': 100 } },
      action: { sqlExpression: 'SET note = @note', sqlParameters: { '@note': 'large' } },
    },
  });
  expect(await all(admin.listRules('events', 'large'))).toEqual([
    {
      name: 'large',
      filter: { sqlExpression: 'amount > @least', sqlParameters: { '@least': 100 } },
      action: { sqlExpression: 'SET note = @note', sqlParameters: { '@note': 'large' } },
    },
  ]);
  const sender = client.createSender('events');
  for (const amount of [100, 101]) await sender.sendMessages({ body: amount, applicationProperties: { amount } });
  const { body, applicationProperties } = await receiveOne(client.createReceiver('events', 'large'));
  expect([body, applicationProperties]).toEqual([101, { amount: 101, note: 'large', RuleName: 'large' }]);
});

test('takes a time to live without end for the longest there is, as clients for .NET and Java ask for it', async () => {
  const { admin, broker } = await anAdmin({ tier: 'emulator' });
  await admin.createQueue('q', { defaultMessageTimeToLive: ENDLESS });
  await admin.createTopic('t', { defaultMessageTimeToLive: ENDLESS });
  const { namespace } = broker;
  const lives = [namespace.queue('q'), namespace.topic('t')].map(({ settings }) => settings.defaultTimeToLiveInMs);
  expect(lives).toEqual([3_600_000, 3_600_000]);
});

test('gives each entity of the premium tier the message size that it asks for', async () => {
  const { admin, client } = await anAdmin({ tier: 'premium' });
  const sizes = [
    (await admin.createQueue('usual')).maxMessageSizeInKilobytes,
    (await admin.createQueue('large', { maxMessageSizeInKilobytes: 2048 })).maxMessageSizeInKilobytes,
    (await admin.createTopic('events', { maxMessageSizeInKilobytes: 102_400 })).maxMessageSizeInKilobytes,
    (await admin.getNamespaceProperties()).messagingSku,
  ];
  expect(sizes).toEqual([1024, 2048, 102_400, 'Premium']);
  const send = (name: string) => codeOf(client.createSender(name).sendMessages({ body: Buffer.alloc(1_500_000) }));
  expect([await send('usual'), await send('large')]).toEqual(['MessageSizeExceeded', 'no error']);
});

test('takes the first rule of a subscription in place of the one that takes everything', async () => {
  const { admin } = await anAdmin();
  await admin.createTopic('events');
  const filter = { sqlExpression: "region = 'eu'" };
  await admin.createSubscription('events', 'eu', { defaultRuleOptions: { name: 'only-eu', filter } });
  expect(await all(admin.listRules('events', 'eu'))).toEqual([{ name: 'only-eu', filter, action: {} }]);
});

test('lists in pages, by name', async () => {
  const { admin } = await anAdmin();
  for (const name of ['b', 'c', 'a']) await admin.createQueue(name);
  const pages: string[][] = [];
  for await (const page of admin.listQueues().byPage({ maxPageSize: 3 })) pages.push(page.map(({ name }) => name));
  expect(pages).toEqual([['a', 'b', 'c'], ['orders']]);
});

test('describes the namespace', async () => {
  const { admin } = await anAdmin();
  expect(await admin.getNamespaceProperties()).toMatchObject({ name: 'sbemulatorns', messagingSku: 'Standard' });
});
