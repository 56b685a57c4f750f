import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { type Node, type ParseError, parse, parseTree, printParseErrorCode } from 'jsonc-parser';
import { type Config, configSchema } from './config/config-schema.ts';
import { EntitiesError, lineAt, type Problem, problemsOf } from './config/problem.ts';
import type { Tier } from './config/tier.ts';
import { defaultQueueSettings, type QueueSettings } from './model/queue-settings.ts';

/** The entities of a namespace. */
export type Entities = {
  /** Queues by name. */
  readonly queues: ReadonlyMap<string, QueueSettings>;
};

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
  const root = parseTree(text, syntaxErrors, { allowTrailingComma: true });
  if (syntaxErrors.length > 0)
    throw new EntitiesError(
      file,
      syntaxErrors.map((error) => syntaxProblem(error, text)),
    );
  const result = configSchema(tier).safeParse(parse(text, [], { allowTrailingComma: true }));
  if (!result.success) throw new EntitiesError(file, problemsOf(result.error.issues, text, root));
  return entitiesOf(result.data, { file, text, root });
}

function syntaxProblem({ error, offset, length }: ParseError, text: string): Problem {
  const got = text.slice(offset, offset + length) || 'the end of the file';
  const expected = `JSON with comments (${printParseErrorCode(error)})`;
  return { line: lineAt(text, offset), path: 'the file', expected, got };
}

type Source = { readonly file: string; readonly text: string; readonly root: Node | undefined };

function entitiesOf(config: Config, { file, text, root }: Source): Entities {
  const queues = new Map<string, QueueSettings>();
  const taken = new Set<string>();
  const namespace = config.UserConfig.Namespaces[0];
  const issues = (namespace?.Queues ?? []).flatMap(({ Name, Properties }, index) => {
    const isTaken = taken.has(Name.toLowerCase());
    taken.add(Name.toLowerCase());
    queues.set(Name, queueSettings(Properties));
    const path = ['UserConfig', 'Namespaces', 0, 'Queues', index, 'Name'];
    return isTaken ? [{ code: 'custom' as const, path, message: 'a name that no other entity has', input: Name }] : [];
  });
  if (issues.length > 0) throw new EntitiesError(file, problemsOf(issues, text, root));
  return { queues };
}

type QueueProperties = Config['UserConfig']['Namespaces'][number]['Queues'][number]['Properties'];

function queueSettings(properties: QueueProperties): QueueSettings {
  return {
    ...defaultQueueSettings,
    lockDurationInMs: properties.LockDuration,
    maxDeliveryCount: properties.MaxDeliveryCount,
    defaultTimeToLiveInMs: properties.DefaultMessageTimeToLive,
    deadLetteringOnMessageExpiration: properties.DeadLetteringOnMessageExpiration,
    requiresSession: properties.RequiresSession,
    duplicateDetectionWindowInMs: properties.RequiresDuplicateDetection
      ? properties.DuplicateDetectionHistoryTimeWindow
      : undefined,
    forwardTo: properties.ForwardTo || undefined,
    forwardDeadLetteredMessagesTo: properties.ForwardDeadLetteredMessagesTo || undefined,
  };
}
