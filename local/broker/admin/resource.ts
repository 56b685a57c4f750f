import { childName, entityName } from '../config/leaf.ts';
import { LIMITS, type Tier } from '../config/tier.ts';
import type { Namespace } from '../model/namespace.ts';
import type { QueueSettings } from '../model/queue-settings.ts';
import type { TopicSettings } from '../model/topic.ts';
import { AdminError, alreadyExists, notFound } from './admin-error.ts';
import { type DescriptionName, type Entry, instantText } from './atom.ts';
import type { Record, Records } from './records.ts';
import type { XmlElement } from './xml.ts';

/** What every resource works on. */
export type AdminContext = { readonly namespace: Namespace; readonly records: Records; readonly tier: Tier };

/** One entity under the API. */
export interface Resource {
  readonly descriptionName: DescriptionName;
  /** @throws AdminError when there is none */
  entry(urlOf: UrlOf): Entry;
  /** @throws AdminError when the name is taken, or when the fields cannot be accepted */
  create(fields: XmlElement): void;
  /** @throws AdminError when there is none, or when the fields cannot be accepted */
  update(fields: XmlElement): void;
  /** @throws AdminError when there is none */
  remove(): void;
}

/** The URL of a path of this API. */
export type UrlOf = (path: string) => string;

/** @throws AdminError when a queue or topic of that name cannot be added */
export function checkNewEntity(path: string, { namespace, tier }: AdminContext): void {
  if (namespace.find(path) !== undefined) throw alreadyExists(path);
  if (!entityName().safeParse(path).success) throw new AdminError(400, `SubCode=40000. '${path}' is not a valid name.`);
  const { entities: most } = LIMITS[tier];
  if (namespace.queues().length + namespace.topics().length < most) return;
  throw new AdminError(403, `SubCode=40300. The namespace has ${most} queues and topics, which is the most.`);
}

/** @throws AdminError when a subscription or rule cannot have that name */
export function checkChildName(name: string): void {
  if (!childName().safeParse(name).success) throw new AdminError(400, `SubCode=40000. '${name}' is not a valid name.`);
}

/** @throws AdminError when messages would be forwarded to nowhere, or in a circle of one */
export function checkForwards(path: string, settings: QueueSettings, { namespace }: AdminContext): void {
  for (const target of [settings.forwardTo, settings.forwardDeadLetteredMessagesTo]) {
    if (target === undefined) continue;
    if (namespace.find(target) === undefined) throw notFound(target);
    if (target.toLowerCase() !== path.toLowerCase()) continue;
    throw new AdminError(400, `SubCode=40000. '${path}' cannot forward to itself.`);
  }
}

/** @throws AdminError when what is settled at creation would change */
export function checkUnchanged(
  before: Partial<QueueSettings> | TopicSettings,
  after: Partial<QueueSettings> | Omit<TopicSettings, 'subscriptions'>,
): void {
  const hasWindow = (settings: typeof before | typeof after) => settings.duplicateDetectionWindowInMs !== undefined;
  const sessions = (settings: object) => 'requiresSession' in settings && settings.requiresSession;
  if (hasWindow(before) === hasWindow(after) && sessions(before) === sessions(after)) return;
  throw new AdminError(
    400,
    'SubCode=40000. RequiresSession and RequiresDuplicateDetection cannot be changed once the entity exists.',
  );
}

/** The times of an entity, as fields of its description. */
export function times({ createdUtc, updatedUtc }: Record): XmlElement {
  const CreatedAt = instantText(createdUtc);
  const UpdatedAt = instantText(updatedUtc);
  return { CreatedAt, UpdatedAt, AccessedAt: UpdatedAt };
}
