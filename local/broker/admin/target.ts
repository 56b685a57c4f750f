import { AdminError } from './admin-error.ts';

/** What a path of the management API names. Queue and topic names may hold slashes, the others may not. */
export type Target =
  | { readonly kind: 'health' }
  | { readonly kind: 'namespace' }
  | { readonly kind: 'messages'; readonly path: string }
  | { readonly kind: 'list'; readonly of: 'queues' | 'topics' }
  | { readonly kind: 'entity'; readonly path: string }
  | { readonly kind: 'subscriptions'; readonly topic: string }
  | { readonly kind: 'subscription'; readonly topic: string; readonly name: string }
  | { readonly kind: 'rules'; readonly topic: string; readonly subscription: string }
  | { readonly kind: 'rule'; readonly topic: string; readonly subscription: string; readonly name: string };

const RULES = /^(.+)\/subscriptions\/([^/]+)\/rules(?:\/([^/]+))?$/i;
const SUBSCRIPTIONS = /^(.+)\/subscriptions(?:\/([^/]+))?$/i;
const MESSAGES = /^(?:queues\/(.+)|topics\/(.+\/subscriptions\/[^/]+))\/messages$/i;
const RESOURCES = /^\$resources\/(queues|topics)$/i;

/**
 * Reads the path of a request's URL. Who asks for the health, or to drop messages, gives no API version, clients of the API
 * do: an entity may be called `health`.
 *
 * @throws AdminError when the path cannot be read
 */
export function targetOf({ pathname, searchParams }: URL): Target {
  const path = decoded(pathname).replace(/^\/+|\/+$/g, '');
  if (!searchParams.has('api-version')) {
    if (path.toLowerCase() === 'health') return { kind: 'health' };
    const [, queue, subscription] = MESSAGES.exec(path) ?? [];
    if (queue !== undefined || subscription !== undefined)
      return { kind: 'messages', path: queue ?? subscription ?? '' };
  }
  if (path.toLowerCase() === '$namespaceinfo') return { kind: 'namespace' };
  const resources = RESOURCES.exec(path)?.[1]?.toLowerCase();
  if (resources === 'queues' || resources === 'topics') return { kind: 'list', of: resources };
  const rules = RULES.exec(path);
  if (rules !== null) {
    const [, topic = '', subscription = '', name] = rules;
    return name === undefined ? { kind: 'rules', topic, subscription } : { kind: 'rule', topic, subscription, name };
  }
  const subscriptions = SUBSCRIPTIONS.exec(path);
  if (subscriptions !== null) {
    const [, topic = '', name] = subscriptions;
    return name === undefined ? { kind: 'subscriptions', topic } : { kind: 'subscription', topic, name };
  }
  return { kind: 'entity', path };
}

function decoded(pathname: string): string {
  try {
    return decodeURIComponent(pathname);
  } catch {
    throw new AdminError(400, `The path ${pathname} is not a valid one.`);
  }
}
