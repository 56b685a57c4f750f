import { describe, expect, it } from 'vitest';
import { queueInAzure } from '../../infra/checks/entity-rules.ts';
import { ofType, readText, type Snapshot, snapshots, theOnly } from './support/built.ts';

const entities = JSON.parse(readText('local/entities.json')).UserConfig.Namespaces[0];
const overrides = JSON.parse(readText('infra/overrides.json'));

const camel = (name: string): string => name.charAt(0).toLowerCase() + name.slice(1);

describe.each(snapshots)('$stage', (snapshot: Snapshot) => {
  it('has the queues of local/entities.json with their properties, and no other', () => {
    const namespace = theOnly(snapshot, 'Microsoft.ServiceBus/namespaces').name;
    const actual = ofType(snapshot, 'Microsoft.ServiceBus/namespaces/queues').map(({ name, properties }) => [
      name,
      properties,
    ]);
    const expected = entities.Queues.map((queue: { Name: string }) => [
      `${namespace}/${queue.Name}`,
      Object.fromEntries(
        Object.entries(queueInAzure(queue, overrides)).map(([name, value]) => [
          camel(name),
          value === '' ? null : value,
        ]),
      ),
    ]);
    expect(actual).toEqual(expected);
  });

  it('has the topics of local/entities.json, and no other', () => {
    const namespace = theOnly(snapshot, 'Microsoft.ServiceBus/namespaces').name;
    expect(ofType(snapshot, 'Microsoft.ServiceBus/namespaces/topics').map(({ name }) => name)).toEqual(
      (entities.Topics ?? []).map(({ Name }: { Name: string }) => `${namespace}/${Name}`),
    );
  });

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
