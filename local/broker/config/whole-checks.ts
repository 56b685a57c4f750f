import type { z } from 'zod';
import type { NamespaceConfig } from './config-schema.ts';
import { LIMITS, type Tier } from './tier.ts';

type Path = (string | number)[];
type Named = { readonly name: string; readonly path: Path };

/** What no single value shows: names taken twice, forwarding to nowhere, too many entities. */
export function wholeIssues({ Queues, Topics }: NamespaceConfig, tier: Tier): z.core.$ZodIssue[] {
  const root: Path = ['UserConfig', 'Namespaces', 0];
  const entities: Named[] = [
    ...Queues.map(({ Name }, index) => ({ name: Name, path: [...root, 'Queues', index, 'Name'] })),
    ...Topics.map(({ Name }, index) => ({ name: Name, path: [...root, 'Topics', index, 'Name'] })),
  ];
  const receivers = [
    ...Queues.map(({ Properties }, index) => ({ Properties, path: [...root, 'Queues', index] })),
    ...Topics.flatMap(({ Subscriptions }, topic) =>
      Subscriptions.map(({ Properties }, index) => ({
        Properties,
        path: [...root, 'Topics', topic, 'Subscriptions', index],
      })),
    ),
  ];
  const known = new Set(entities.map(({ name }) => name.toLowerCase()));
  const forwards = receivers.flatMap(({ Properties, path }) =>
    (['ForwardTo', 'ForwardDeadLetteredMessagesTo'] as const)
      .filter((field) => Properties[field] !== '' && !known.has(Properties[field].toLowerCase()))
      .map((field) => issue([...path, 'Properties', field], 'the name of a queue or a topic in this file')),
  );
  const { entities: most } = LIMITS[tier];
  const tooMany = entities.length > most ? [issue(root, `at most ${most} queues and topics`)] : [];
  const subscriptions = Topics.flatMap(({ Subscriptions }, topic) =>
    takenTwice(
      Subscriptions.map(({ Name }, index) => ({
        name: Name,
        path: [...root, 'Topics', topic, 'Subscriptions', index, 'Name'],
      })),
    ),
  );
  return [...tooMany, ...takenTwice(entities), ...subscriptions, ...forwards];
}

function takenTwice(named: readonly Named[]): z.core.$ZodIssue[] {
  const taken = new Set<string>();
  return named.flatMap(({ name, path }) => {
    const isTaken = taken.has(name.toLowerCase());
    taken.add(name.toLowerCase());
    return isTaken ? [issue(path, 'a name that no other has here')] : [];
  });
}

function issue(path: Path, message: string): z.core.$ZodIssue {
  return { code: 'custom', path, message, input: undefined };
}
