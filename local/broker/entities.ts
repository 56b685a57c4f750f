import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { type ParseError, parse, parseTree, printParseErrorCode } from 'jsonc-parser';
import { configSchema, type NamespaceConfig } from './config/config-schema.ts';
import { EntitiesError, lineAt, type Problem, problemsOf } from './config/problem.ts';
import { entitySizes, type Tier } from './config/tier.ts';
import { wholeIssues } from './config/whole-checks.ts';
import { defaultQueueSettings, type QueueSettings } from './model/queue-settings.ts';
import type { TopicSettings } from './model/topic.ts';

/** The entities of a namespace. */
export type Entities = {
  /** Queues by name. */
  readonly queues: ReadonlyMap<string, QueueSettings>;
  /** Topics by name. */
  readonly topics?: ReadonlyMap<string, TopicSettings>;
};

const PARSE_OPTIONS = { allowTrailingComma: true };

/**
 * Reads an entity file in the format of the official emulator's Config.json; comments are allowed.
 *
 * @throws EntitiesError naming every problem, with its line, what was expected and what was found
 * @throws Error when the file cannot be read
 */
export async function loadEntities(file: string, tier: Tier = 'emulator'): Promise<Entities> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`The entity file ${file} cannot be read (${error.code}). What to do: check its path.`);
  });
  return parseEntities(text, basename(file), tier);
}

/** The entities in the text of an entity file; `file` is how its problems name it. See {@link loadEntities}. */
export function parseEntities(text: string, file: string, tier: Tier = 'emulator'): Entities {
  const syntaxErrors: ParseError[] = [];
  const root = parseTree(text, syntaxErrors, PARSE_OPTIONS);
  const [syntaxError] = syntaxErrors;
  if (syntaxError !== undefined) throw new EntitiesError(file, [syntaxProblem(syntaxError, text)]);
  const result = configSchema(tier).safeParse(parse(text, [], PARSE_OPTIONS));
  const namespace = result.data?.UserConfig.Namespaces[0];
  const issues = namespace === undefined ? (result.error?.issues ?? []) : wholeIssues(namespace, tier);
  if (namespace !== undefined && issues.length === 0) return entitiesOf(namespace, tier);
  throw new EntitiesError(file, problemsOf(issues, text, root));
}

/** What follows the first error of a broken file would only confuse. */
function syntaxProblem({ error, offset, length }: ParseError, text: string): Problem {
  const got = text.slice(offset, offset + length) || 'the end of the file';
  const expected = `JSON with comments (${printParseErrorCode(error)})`;
  return { line: lineAt(text, offset), path: 'the file', expected, got };
}

function entitiesOf({ Queues, Topics }: NamespaceConfig, tier: Tier): Entities {
  const sizes = entitySizes(tier);
  const queues = new Map(
    Queues.map(
      ({ Name, Properties }) => [Name, { ...receiving(Properties), ...sending(Properties), ...sizes }] as const,
    ),
  );
  const topics = new Map(
    Topics.map(({ Name, Properties, Subscriptions }) => {
      const subscriptions = new Map(
        Subscriptions.map((one) => [one.Name, { queue: receiving(one.Properties), rules: one.Rules }] as const),
      );
      const { DefaultMessageTimeToLive: defaultTimeToLiveInMs } = Properties;
      return [Name, { defaultTimeToLiveInMs, ...sending(Properties), ...sizes, subscriptions }] as const;
    }),
  );
  return { queues, topics };
}

type Receiving = NamespaceConfig['Topics'][number]['Subscriptions'][number]['Properties'];

function receiving(properties: Receiving): QueueSettings {
  return {
    ...defaultQueueSettings,
    lockDurationInMs: properties.LockDuration,
    maxDeliveryCount: properties.MaxDeliveryCount,
    defaultTimeToLiveInMs: properties.DefaultMessageTimeToLive,
    deadLetteringOnMessageExpiration: properties.DeadLetteringOnMessageExpiration,
    requiresSession: properties.RequiresSession,
    forwardTo: properties.ForwardTo || undefined,
    forwardDeadLetteredMessagesTo: properties.ForwardDeadLetteredMessagesTo || undefined,
  };
}

type Sending = Pick<
  NamespaceConfig['Queues'][number]['Properties'],
  'RequiresDuplicateDetection' | 'DuplicateDetectionHistoryTimeWindow'
>;

function sending({ RequiresDuplicateDetection, DuplicateDetectionHistoryTimeWindow }: Sending) {
  return { duplicateDetectionWindowInMs: RequiresDuplicateDetection ? DuplicateDetectionHistoryTimeWindow : undefined };
}
