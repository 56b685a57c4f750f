import { durationInMs } from '../../local/broker/config/duration.ts';

type Properties = Readonly<Record<string, unknown>>;
interface Entity {
  readonly Name: string;
  readonly Properties?: Properties;
  readonly Subscriptions?: readonly Entity[];
}

/** The parts of `local/entities.json` that are looked at. */
export interface Entities {
  readonly UserConfig: {
    readonly Namespaces: readonly { readonly Queues?: readonly Entity[]; readonly Topics?: readonly Entity[] }[];
  };
}

/** `infra/overrides.json`: what only Azure has. */
export interface Overrides {
  readonly everyQueue: Properties;
  readonly everyTopic: Properties;
  readonly everySubscription: Properties;
  readonly queues: Readonly<Record<string, Properties>>;
  readonly topics: Readonly<Record<string, Properties>>;
}

/** What of an event's policy a queue must agree with; durations in ms. */
export interface PolicyOfQueue {
  readonly event: string;
  readonly windowInMs: number;
  readonly lockDurationInMs: number;
  readonly maxDeliveryCount: number;
  readonly timeToLiveInMs: number;
}

/** The emulator's defaults, as `infra/entities.bicep` has them. */
const DEFAULTS = {
  DeadLetteringOnMessageExpiration: false,
  DefaultMessageTimeToLive: 'PT1H',
  DuplicateDetectionHistoryTimeWindow: 'PT20S',
  ForwardDeadLetteredMessagesTo: '',
  ForwardTo: '',
  LockDuration: 'PT1M',
  MaxDeliveryCount: 3,
  RequiresDuplicateDetection: false,
  RequiresSession: false,
};
const LEAST_LOCK_IN_MS = 5_000;
const MOST_LOCK_IN_MS = 300_000;

/** A queue as it will be in Azure. */
export const queueInAzure = (queue: Entity, overrides: Overrides): Properties => ({
  ...DEFAULTS,
  ...queue.Properties,
  ...overrides.everyQueue,
  ...overrides.queues[queue.Name],
});

/**
 * What of the entities the service would refuse, or would take and lose messages by; a line each. The template refuses
 * most of it as well, but only where there is a compiler.
 */
export function problemsOfEntities(
  entities: Entities,
  overrides: Overrides,
  policies: Readonly<Record<string, PolicyOfQueue>> = {},
): string[] {
  const { Queues = [], Topics = [] } = entities.UserConfig.Namespaces[0] ?? {};
  const names = new Set(Queues.map(({ Name }) => Name));
  const topicNames = new Set(Topics.map(({ Name }) => Name));
  return [
    ...Queues.flatMap((queue) => problemsOfQueue(queue.Name, queueInAzure(queue, overrides), policies[queue.Name])),
    ...Topics.flatMap((topic) => problemsOfTopic(topic, overrides, names, policies)),
    ...unknownNames('queues', overrides.queues, names),
    ...unknownNames('topics', overrides.topics, topicNames),
  ];
}

function problemsOfQueue(name: string, queue: Properties, policy: PolicyOfQueue | undefined): string[] {
  const problems: string[] = [];
  const wrong = (text: string) => problems.push(`queue ${name}: ${text}`);
  const ms = (property: string) => {
    const parsed = durationInMs(String(queue[property]));
    if (parsed === undefined) wrong(`${property} ${queue[property]} is no ISO 8601 duration such as PT1M`);
    return parsed ?? Number.NaN;
  };
  const lockInMs = ms('LockDuration');
  const windowInMs = ms('DuplicateDetectionHistoryTimeWindow');
  const timeToLiveInMs = ms('DefaultMessageTimeToLive');
  const deliveries = Number(queue['MaxDeliveryCount']);

  if (lockInMs < LEAST_LOCK_IN_MS || lockInMs > MOST_LOCK_IN_MS) {
    wrong(`LockDuration ${queue['LockDuration']} must be 5 seconds to 5 minutes`);
  }
  if (queue['RequiresDuplicateDetection'] === true && windowInMs < lockInMs * deliveries) {
    wrong(
      `DuplicateDetectionHistoryTimeWindow ${queue['DuplicateDetectionHistoryTimeWindow']} must be at least LockDuration x MaxDeliveryCount (${(lockInMs * deliveries) / 1_000} s), or a copy that a later delivery sends again counts as new`,
    );
  }
  if (queue['DeadLetteringOnMessageExpiration'] !== true) {
    wrong('DeadLetteringOnMessageExpiration must be true, or expired messages vanish without a trace');
  }
  if (policy) {
    const { event } = policy;
    if (timeToLiveInMs < policy.windowInMs) {
      wrong(shorterThanWindow(queue, policy));
    }
    const agree = (property: string, actual: number, field: keyof PolicyOfQueue) => {
      if (actual !== policy[field])
        wrong(`${property} ${queue[property]} is not what the policy of ${event} believes: ${field} ${policy[field]}`);
    };
    agree('LockDuration', lockInMs, 'lockDurationInMs');
    agree('MaxDeliveryCount', deliveries, 'maxDeliveryCount');
    // The policy's is the least of all places where the app runs: the emulator takes an hour at most.
    if (timeToLiveInMs < policy.timeToLiveInMs)
      wrong(
        `DefaultMessageTimeToLive ${queue['DefaultMessageTimeToLive']} is shorter than the policy of ${event} believes: timeToLiveInMs ${policy.timeToLiveInMs}`,
      );
  }
  return problems;
}

function problemsOfTopic(
  { Name, Properties, Subscriptions = [] }: Entity,
  overrides: Overrides,
  queues: ReadonlySet<string>,
  policies: Readonly<Record<string, PolicyOfQueue>>,
): string[] {
  const topic = { ...DEFAULTS, ...Properties, ...overrides.everyTopic, ...overrides.topics[Name] };
  return Subscriptions.flatMap((subscription) => {
    const properties: Properties = { ...DEFAULTS, ...subscription.Properties, ...overrides.everySubscription };
    const policy = policies[String(properties['ForwardTo'])];
    return [
      ...problemsOfSubscription(properties, queues),
      ...(policy ? shortLives('topic', topic, policy) : []),
      ...(policy ? shortLives('subscription', properties, policy) : []),
    ].map((problem) => `subscription ${Name}/${subscription.Name}: ${problem}`);
  });
}

function problemsOfSubscription(properties: Properties, queues: ReadonlySet<string>): string[] {
  const problems: string[] = [];
  const target = String(properties['ForwardTo']);
  if (properties['DeadLetteringOnMessageExpiration'] !== true) {
    problems.push('DeadLetteringOnMessageExpiration must be true, or expired messages vanish without a trace');
  }
  if (target !== '' && !queues.has(target)) problems.push(`ForwardTo ${target} is no queue of local/entities.json`);
  if (properties['RequiresSession'] === true && target !== '') {
    problems.push('a subscription with sessions cannot forward');
  }
  return problems;
}

/** A message keeps, on its way, the shortest time to live that it has met. */
function shortLives(of: 'topic' | 'subscription', properties: Properties, policy: PolicyOfQueue): string[] {
  const timeToLive = String(properties['DefaultMessageTimeToLive']);
  const inMs = durationInMs(timeToLive);
  if (inMs === undefined) return [`${of}: DefaultMessageTimeToLive ${timeToLive} is no ISO 8601 duration such as PT1M`];
  return inMs < policy.windowInMs ? [`${of}: ${shorterThanWindow(properties, policy)}`] : [];
}

const shorterThanWindow = (properties: Properties, { event, windowInMs }: PolicyOfQueue): string =>
  `DefaultMessageTimeToLive ${properties['DefaultMessageTimeToLive']} must be at least the retry window of ${event} (${windowInMs / 1_000} s), or copies expire inside it`;

const unknownNames = (
  kind: string,
  overrides: Readonly<Record<string, unknown>>,
  known: ReadonlySet<string>,
): string[] =>
  Object.keys(overrides)
    .filter((name) => !known.has(name))
    .map((name) => `infra/overrides.json, ${kind}: local/entities.json has no ${name}`);
