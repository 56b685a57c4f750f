import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { findCompiler } from '../../infra/checks/compiler.ts';
import { rebuild } from '../../infra/checks/rebuild.ts';
import { ofType, project, type Snapshot, snapshotFrom, snapshots } from './support/built.ts';

const compiler = await findCompiler(process.env, join(project, 'infra', '.bicep'), { mayDownload: false });
const SLOW = 240_000;

type Json = Record<string, unknown>;

const OPERATOR_GROUP = '22222222-2222-2222-2222-222222222222';
const OPERATORS = `param operators = [{ principalId: '${OPERATOR_GROUP}', principalType: 'Group' }]\n`;

/** Takes the snapshot of a stage with a file changed, and with a group of operators. */
async function withChange(file: string, change: (content: Json) => void, stage = 'dev') {
  if (compiler.kind === 'absent') throw new Error('no compiler');
  const edit = async (copy: string) => {
    await appendFile(join(copy, 'infra', `${stage}.bicepparam`), OPERATORS);
    const content = JSON.parse(await readFile(join(copy, file), 'utf8'));
    change(content);
    await writeFile(join(copy, file), JSON.stringify(content));
  };
  const { built, problems } = await rebuild(compiler, project, { edit, stages: [stage] });
  const text = built[`infra/snapshots/${stage}.json`];
  return { problems, snapshot: text ? snapshotFrom(stage, text) : undefined };
}

// biome-ignore lint/suspicious/noExplicitAny: the emulator's format
const namespaceOf = (entities: any) => entities.UserConfig.Namespaces[0];
const idsOf = ({ resources }: Snapshot) => resources.map(({ id }) => id);
const committed = snapshots.find(({ stage }) => stage === 'dev') as Snapshot;

/** What is new in a snapshot, as type and the end of the name; what operators may do apart. */
const addedTo = (snapshot: Snapshot) =>
  snapshot.resources
    .filter(({ id, properties }) => !idsOf(committed).includes(id) && properties?.principalId !== OPERATOR_GROUP)
    .map(({ type, name, id }) =>
      `${type.split('/').slice(1).join('/')} ${id.startsWith('[') ? '' : name.replace(/^[\w-]+\/|^dev-\w{8}-/, '')}`.trim(),
    )
    .sort();

describe.skipIf(compiler.kind === 'absent')('the compiler', () => {
  let snapshot: Snapshot;
  beforeAll(async () => {
    const made = await withChange('local/entities.json', (entities) => {
      const { Queues, Topics } = namespaceOf(entities);
      Queues.push({
        Name: 'billing-subscription-renewed',
        Properties: { MaxDeliveryCount: 10, LockDuration: 'PT1M', DeadLetteringOnMessageExpiration: true },
      });
      Topics.push({
        Name: 'order-events',
        Properties: { DefaultMessageTimeToLive: 'PT1H' },
        Subscriptions: [
          {
            Name: 'billing',
            Properties: { DeadLetteringOnMessageExpiration: true, ForwardTo: 'billing-order-placed' },
            Rules: [
              {
                Name: 'placed',
                Properties: {
                  FilterType: 'Correlation',
                  CorrelationFilter: { Label: 'placed', Properties: { region: 'eu' } },
                },
              },
              { Name: 'large', Properties: { FilterType: 'Sql', SqlFilter: { SqlExpression: 'amount > 1000' } } },
            ],
          },
        ],
      });
    });
    expect(made.problems).toEqual([]);
    snapshot = made.snapshot as Snapshot;
  }, SLOW);

  it('makes of a second event, added as the README says, a queue, its roles and its alerts; of a topic a subscription that forwards; and leaves the rest alone', () => {
    expect(addedTo(snapshot)).toEqual([
      'metricAlerts active-billing-subscription-renewed',
      'metricAlerts dead-letters-billing-subscription-renewed',
      'metricAlerts dead-letters-order-events',
      'metricAlerts scheduled-billing-subscription-renewed',
      'metricAlerts size-billing-subscription-renewed',
      'metricAlerts size-order-events',
      'namespaces/queues billing-subscription-renewed',
      'namespaces/topics order-events',
      'namespaces/topics/subscriptions order-events/billing',
      'namespaces/topics/subscriptions/rules order-events/billing/$Default',
      'namespaces/topics/subscriptions/rules order-events/billing/large',
      'roleAssignments',
      'roleAssignments',
    ]);
    expect(idsOf(committed).filter((id) => !idsOf(snapshot).includes(id))).toEqual([]);
  });

  it('lets operators receive from every queue and subscription, send to every queue, and nothing else', () => {
    const RECEIVER = '4f6d3b9b-027b-4f4c-9142-0e5a2a2247e0';
    const SENDER = '69a216fc-b8fb-44d8-bc22-1f3c2cd27a39';
    const granted = ofType(snapshot, 'Microsoft.Authorization/roleAssignments')
      .filter(({ properties }) => properties.principalId === OPERATOR_GROUP)
      .map(({ id, properties }) => [
        /namespaces\/[\w-]+\/(.+?)\/providers/.exec(id)?.[1],
        properties.roleDefinitionId.split('/').at(-1),
        properties.principalType,
      ]);
    const queues = ['queues/billing-order-placed', 'queues/billing-subscription-renewed'];
    const subscriptions = ['topics/orders/subscriptions/billing', 'topics/order-events/subscriptions/billing'];
    expect(granted.sort()).toEqual(
      [
        ...[...queues, ...subscriptions].map((entity) => [entity, RECEIVER, 'Group']),
        ...queues.map((entity) => [entity, SENDER, 'Group']),
      ].sort(),
    );
  });

  it('makes of the rules of a subscription filters, the first in place of the one that takes everything', () => {
    const rules = ofType(snapshot, 'Microsoft.ServiceBus/namespaces/topics/subscriptions/rules');
    expect(rules[0]?.properties).toMatchObject({
      filterType: 'CorrelationFilter',
      correlationFilter: { label: 'placed', properties: { region: 'eu' } },
    });
    expect(rules[1]?.properties).toMatchObject({
      filterType: 'SqlFilter',
      sqlFilter: { sqlExpression: 'amount > 1000' },
    });
  });

  it.each([
    {
      what: 'a lock that the service does not take',
      file: 'infra/overrides.json',
      change: ['"queues": {}', '"queues": { "billing-order-placed": { "LockDuration": "PT6M" } }'],
      stage: 'dev',
      says: 'LockDuration PT6M must be 5 seconds to 5 minutes',
    },
    {
      what: 'network isolation in Standard',
      file: 'infra/stages.bicep',
      change: ["serviceBusTier: 'Premium'", "serviceBusTier: 'Standard'"],
      stage: 'prod-isolated',
      says: 'serviceBusTier Standard has no private endpoints',
    },
  ] as const)('refuses $what', { timeout: SLOW }, async ({ file, change: [from, to], stage, says }) => {
    if (compiler.kind === 'absent') return;
    const edit = async (copy: string) => {
      const text = await readFile(join(copy, file), 'utf8');
      expect(text).toContain(from);
      await writeFile(join(copy, file), text.replace(from, to));
    };
    const { problems } = await rebuild(compiler, project, { edit, stages: [stage] });
    expect(problems.join('\n')).toContain(says);
  });
});
