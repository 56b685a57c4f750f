import { describe, expect, it } from 'vitest';
import { queueInAzure } from '../../infra/checks/entity-rules.ts';
import { ofType, readText, type Snapshot, snapshots, theOnly } from './support/built.ts';

const entities = JSON.parse(readText('local/entities.json')).UserConfig.Namespaces[0];
const overrides = JSON.parse(readText('infra/overrides.json'));

interface Subscription {
  readonly Name: string;
  readonly Properties: Readonly<Record<string, unknown>>;
}
interface Topic extends Subscription {
  readonly Subscriptions: readonly Subscription[];
}

const camel = (name: string): string => name.charAt(0).toLowerCase() + name.slice(1);

/** Properties as the service names them; what is empty here is not there. */
const inAzure = (properties: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(properties).map(([name, value]) => [camel(name), value === '' ? null : value]));

describe.each(snapshots)('$stage', (snapshot: Snapshot) => {
  it('has the queues of local/entities.json with their properties, and no other', () => {
    const namespace = theOnly(snapshot, 'Microsoft.ServiceBus/namespaces').name;
    const actual = ofType(snapshot, 'Microsoft.ServiceBus/namespaces/queues').map(({ name, properties }) => [
      name,
      properties,
    ]);
    const expected = entities.Queues.map((queue: { Name: string }) => [
      `${namespace}/${queue.Name}`,
      inAzure(queueInAzure(queue, overrides)),
    ]);
    expect(actual).toEqual(expected);
  });

  it('has the topics of local/entities.json with their subscriptions, and no other', () => {
    const namespace = theOnly(snapshot, 'Microsoft.ServiceBus/namespaces').name;
    const named = (type: string) =>
      ofType(snapshot, `Microsoft.ServiceBus/namespaces/topics${type}`).map(({ name, properties }) => [
        name,
        properties,
      ]);
    const topics: Topic[] = entities.Topics;
    expect(named('')).toEqual(
      topics.map(({ Name, Properties }) => [
        `${namespace}/${Name}`,
        {
          ...inAzure({ ...Properties, ...overrides.everyTopic, ...overrides.topics[Name] }),
          // Without duplicate detection there is no window.
          duplicateDetectionHistoryTimeWindow: null,
        },
      ]),
    );
    expect(named('/subscriptions')).toEqual(
      topics.flatMap(({ Name, Subscriptions }) =>
        Subscriptions.map((subscription) => [
          `${namespace}/${Name}/${subscription.Name}`,
          {
            ...inAzure({ ...subscription.Properties, ...overrides.everySubscription }),
            deadLetteringOnFilterEvaluationExceptions: true,
          },
        ]),
      ),
    );
  });

  it('forwards from a topic to the queue of an event', () => {
    const subscriptions = ofType(snapshot, 'Microsoft.ServiceBus/namespaces/topics/subscriptions');
    expect(subscriptions.map(({ properties }) => properties.forwardTo)).toEqual(['billing-order-placed']);
  });

  // Field case F3.
  it('dead-letters what expires, everywhere', () => {
    const receiving = [
      ...ofType(snapshot, 'Microsoft.ServiceBus/namespaces/queues'),
      ...ofType(snapshot, 'Microsoft.ServiceBus/namespaces/topics/subscriptions'),
    ];
    expect(receiving.map(({ properties }) => properties.deadLetteringOnMessageExpiration)).toEqual(
      receiving.map(() => true),
    );
  });
});
