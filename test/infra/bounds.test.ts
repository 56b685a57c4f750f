import { describe, expect, it } from 'vitest';
import { type Entities, type Overrides, problemsOfEntities } from '../../infra/checks/entity-rules.ts';
import { policiesByQueue } from '../../infra/checks/policies.ts';
import { project, readText } from './support/built.ts';

const NO_OVERRIDES: Overrides = { everyQueue: {}, everyTopic: {}, everySubscription: {}, queues: {}, topics: {} };
const POLICY = {
  event: 'order-placed',
  windowInMs: 1_800_000,
  lockDurationInMs: 60_000,
  maxDeliveryCount: 10,
  timeToLiveInMs: 3_600_000,
};

const aQueue = (properties: Record<string, unknown> = {}): Entities => ({
  UserConfig: {
    Namespaces: [
      {
        Queues: [
          {
            Name: 'orders',
            Properties: {
              DeadLetteringOnMessageExpiration: true,
              DefaultMessageTimeToLive: 'PT1H',
              LockDuration: 'PT1M',
              MaxDeliveryCount: 10,
              ...properties,
            },
          },
        ],
      },
    ],
  },
});

const aTopic = (properties: Record<string, unknown>, ofTheTopic: Record<string, unknown> = {}): Entities => ({
  UserConfig: {
    Namespaces: [
      {
        Queues: aQueue().UserConfig.Namespaces[0]?.Queues ?? [],
        Topics: [
          { Name: 'events', Properties: ofTheTopic, Subscriptions: [{ Name: 'billing', Properties: properties }] },
        ],
      },
    ],
  },
});

describe('entities', () => {
  it('are well as committed, with the policies that consume them', async () => {
    const policies = await policiesByQueue(project);
    expect(Object.keys(policies)).toContain('billing-order-placed');
    const entities = JSON.parse(readText('local/entities.json'));
    expect(problemsOfEntities(entities, JSON.parse(readText('infra/overrides.json')), policies)).toEqual([]);
  });

  it.each([
    { LockDuration: 'PT6M', says: 'queue orders: LockDuration PT6M must be 5 seconds to 5 minutes' },
    { LockDuration: 'PT1S', says: 'queue orders: LockDuration PT1S must be 5 seconds to 5 minutes' },
    { LockDuration: '60', says: 'queue orders: LockDuration 60 is no ISO 8601 duration such as PT1M' },
    {
      DeadLetteringOnMessageExpiration: false,
      says: 'queue orders: DeadLetteringOnMessageExpiration must be true, or expired messages vanish without a trace',
    },
  ])('refuses $says', ({ says, ...properties }) => {
    expect(problemsOfEntities(aQueue(properties), NO_OVERRIDES)).toEqual([says]);
  });

  it('refuses a duplicate window shorter than lock x deliveries', () => {
    const properties = { RequiresDuplicateDetection: true, DuplicateDetectionHistoryTimeWindow: 'PT9M59S' };
    expect(problemsOfEntities(aQueue(properties), NO_OVERRIDES)).toEqual([
      'queue orders: DuplicateDetectionHistoryTimeWindow PT9M59S must be at least LockDuration x MaxDeliveryCount (600 s), or a copy that a later delivery sends again counts as new',
    ]);
    const enough = { ...properties, DuplicateDetectionHistoryTimeWindow: 'PT10M' };
    expect(problemsOfEntities(aQueue(enough), NO_OVERRIDES)).toEqual([]);
  });

  it('refuses a time to live shorter than the retry window', () => {
    const policies = { orders: { ...POLICY, timeToLiveInMs: 1_200_000 } };
    expect(problemsOfEntities(aQueue({ DefaultMessageTimeToLive: 'PT20M' }), NO_OVERRIDES, policies)).toEqual([
      'queue orders: DefaultMessageTimeToLive PT20M must be at least the retry window of order-placed (1800 s), or copies expire inside it',
    ]);
  });

  it('refuses a queue that is not what the policy believes', () => {
    const overrides = { ...NO_OVERRIDES, queues: { orders: { MaxDeliveryCount: 50 } } };
    expect(problemsOfEntities(aQueue(), overrides, { orders: POLICY })).toEqual([
      'queue orders: MaxDeliveryCount 50 is not what the policy of order-placed believes: maxDeliveryCount 10',
    ]);
  });

  it('refuses a shorter time to live than the policy believes, and takes a longer one', () => {
    const policies = { orders: POLICY };
    expect(problemsOfEntities(aQueue({ DefaultMessageTimeToLive: 'PT59M' }), NO_OVERRIDES, policies)).toEqual([
      'queue orders: DefaultMessageTimeToLive PT59M is shorter than the policy of order-placed believes: timeToLiveInMs 3600000',
    ]);
    expect(problemsOfEntities(aQueue({ DefaultMessageTimeToLive: 'P14D' }), NO_OVERRIDES, policies)).toEqual([]);
  });

  it('refuses an override of nothing', () => {
    const overrides = { ...NO_OVERRIDES, queues: { order: {} } };
    expect(problemsOfEntities(aQueue(), overrides)).toEqual([
      'infra/overrides.json, queues: local/entities.json has no order',
    ]);
  });

  it('refuses a subscription that loses messages, forwards to nothing, or has sessions and forwards', () => {
    const dead = { DeadLetteringOnMessageExpiration: true };
    expect(problemsOfEntities(aTopic({ ...dead, ForwardTo: 'orders' }), NO_OVERRIDES)).toEqual([]);
    expect(problemsOfEntities(aTopic({ ForwardTo: 'orders' }), NO_OVERRIDES)).toEqual([
      'subscription events/billing: DeadLetteringOnMessageExpiration must be true, or expired messages vanish without a trace',
    ]);
    expect(problemsOfEntities(aTopic({ ...dead, ForwardTo: 'order' }), NO_OVERRIDES)).toEqual([
      'subscription events/billing: ForwardTo order is no queue of local/entities.json',
    ]);
    expect(problemsOfEntities(aTopic({ ...dead, ForwardTo: 'orders', RequiresSession: true }), NO_OVERRIDES)).toEqual([
      'subscription events/billing: a subscription with sessions cannot forward',
    ]);
  });

  it('refuses a topic, or a subscription, in which messages live shorter than the retry window of who handles them', () => {
    const forwarding = { DeadLetteringOnMessageExpiration: true, ForwardTo: 'orders' };
    const short = { DefaultMessageTimeToLive: 'PT20M' };
    const problemsOf = (entities: Entities) => problemsOfEntities(entities, NO_OVERRIDES, { orders: POLICY });
    expect(problemsOf(aTopic(forwarding))).toEqual([]);
    expect(problemsOf(aTopic(forwarding, short))).toEqual([
      'subscription events/billing: topic: DefaultMessageTimeToLive PT20M must be at least the retry window of order-placed (1800 s), or copies expire inside it',
    ]);
    expect(problemsOf(aTopic({ ...forwarding, ...short }))).toEqual([
      'subscription events/billing: subscription: DefaultMessageTimeToLive PT20M must be at least the retry window of order-placed (1800 s), or copies expire inside it',
    ]);
  });
});

describe('parameters', () => {
  const { parameters, definitions } = JSON.parse(readText('infra/main.json'));

  it('have bounds', () => {
    expect(parameters.environmentName).toMatchObject({ minLength: 1, maxLength: 20 });
    expect(parameters.ledgerTableName).toMatchObject({ minLength: 3, maxLength: 63 });
    const stage = Object.entries<{ properties?: Record<string, unknown> }>(definitions).find(([name]) =>
      name.endsWith('stageType'),
    )?.[1].properties;
    expect(stage).toMatchObject({
      maximumInstanceCount: { minValue: 1, maxValue: 1_000 },
      instanceMemoryInMb: { allowedValues: expect.arrayContaining([512, 2_048, 4_096]) },
      logRetentionInDays: { minValue: 30, maxValue: 730 },
      logDailyQuotaInGb: { minValue: -1, maxValue: 1_000 },
    });
  });

  it('say what they are for', () => {
    for (const [name, { metadata }] of Object.entries<{ metadata?: { description?: string } }>(parameters)) {
      expect(metadata?.description, name).toMatch(/^(Required|Optional)\. /);
    }
  });
});
