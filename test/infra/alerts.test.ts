import { describe, expect, it } from 'vitest';
import { ofType, type Resource, readText, type Snapshot, snapshots, theOnly } from './support/built.ts';

const METRIC_ALERT = 'Microsoft.Insights/metricAlerts';
const LOG_ALERT = 'Microsoft.Insights/scheduledQueryRules';
const entities = JSON.parse(readText('local/entities.json')).UserConfig.Namespaces[0];
const queueNames: string[] = entities.Queues.map(({ Name }: { Name: string }) => Name);
const topicNames: string[] = (entities.Topics ?? []).map(({ Name }: { Name: string }) => Name);

/** An alert without the name of its environment. */
const keyOf = ({ name }: Resource): string => name.replace(/^[a-z]+-\w{8}-/, '');

describe.each(snapshots)('$stage', (snapshot: Snapshot) => {
  const isPremium = theOnly(snapshot, 'Microsoft.ServiceBus/namespaces').sku?.['tier'] === 'Premium';
  const isProduction = snapshot.stage.startsWith('prod');
  const alerts = [...ofType(snapshot, METRIC_ALERT), ...ofType(snapshot, LOG_ALERT)];

  it('watches every queue, every topic and the namespace', () => {
    expect(ofType(snapshot, METRIC_ALERT).map(keyOf)).toEqual([
      ...queueNames.flatMap((queue) => [
        `dead-letters-${queue}`,
        `scheduled-${queue}`,
        `active-${queue}`,
        `size-${queue}`,
      ]),
      ...topicNames.flatMap((topic) => [`dead-letters-${topic}`, `size-${topic}`]),
      'throttled',
      'server-errors',
      ...(isPremium ? ['cpu', 'memory'] : []),
    ]);
  });

  it('watches what the app reports', () => {
    expect(ofType(snapshot, LOG_ALERT).map(keyOf)).toEqual([
      'retry-ratio',
      'attempts-exhausted',
      'locks-lost',
      'slow-handler',
      ...(isProduction ? ['silence'] : []),
    ]);
  });

  it('tells somebody, how bad it is and what to do', () => {
    for (const alert of alerts) {
      const { severity, description, actions, enabled } = alert.properties;
      expect(severity, alert.name).toBeGreaterThanOrEqual(1);
      expect(severity, alert.name).toBeLessThanOrEqual(3);
      expect(description.length, alert.name).toBeGreaterThan(80);
      expect(description.length, alert.name).toBeLessThanOrEqual(1_024);
      const groups =
        alert.type === METRIC_ALERT
          ? actions.map((action: { actionGroupId: string }) => action.actionGroupId)
          : actions.actionGroups;
      expect(groups, alert.name).toHaveLength(1);
      expect(enabled, alert.name).toBe(snapshot.stage !== 'dev');
    }
  });

  it('fires on the first dead letter of a queue, at 80% of its size', () => {
    const criteriaOf = (key: string) =>
      ofType(snapshot, METRIC_ALERT).find((alert) => keyOf(alert) === key)?.properties.criteria.allOf[0];
    const queue = 'billing-order-placed';
    expect(criteriaOf(`dead-letters-${queue}`)).toMatchObject({
      metricName: 'DeadletteredMessages',
      operator: 'GreaterThan',
      threshold: 0,
      dimensions: [{ name: 'EntityName', operator: 'Include', values: [queue] }],
    });
    const size = theOnly(snapshot, 'Microsoft.ServiceBus/namespaces/queues').properties.maxSizeInMegabytes;
    expect(criteriaOf(`size-${queue}`).threshold / (size * 1024 * 1024)).toBeCloseTo(0.8, 3);
  });

  it('names metrics that the namespace has', () => {
    const known = [
      'ActiveMessages',
      'DeadletteredMessages',
      'NamespaceCpuUsage',
      'NamespaceMemoryUsage',
      'ScheduledMessages',
      'ServerErrors',
      'Size',
      'ThrottledRequests',
    ];
    for (const alert of ofType(snapshot, METRIC_ALERT)) {
      expect(known).toContain(alert.properties.criteria.allOf[0].metricName);
    }
  });
});
