import { AdminError, notFound } from './admin-error.ts';
import { type Description, descriptionIn, type Entry, entryDocument, feedDocument, instantText } from './atom.ts';
import { messageCount } from './queue-fields.ts';
import type { AdminContext, Resource, UrlOf } from './resource.ts';
import { entriesAt, resourceAt } from './resources.ts';
import { targetOf } from './target.ts';

/** The service's own page size, and its largest. */
const PAGE = 100;
const NAMESPACE = 'sbemulatorns';

/** A request to the management API, as far as it counts here. */
export type AdminRequest = {
  readonly method: string;
  readonly url: URL;
  readonly body: string;
  /** Whether the request is to change an entity, which must exist; a PUT makes one otherwise. */
  readonly isUpdate: boolean;
};

export type AdminResponse = { readonly status: number; readonly contentType: string; readonly body: string };

/**
 * Carries out a request.
 *
 * @throws AdminError when it is refused
 */
export function respond(request: AdminRequest, context: AdminContext): AdminResponse {
  const { method, url } = request;
  const target = targetOf(url);
  const urlOf: UrlOf = (path) => `${url.origin}/${path}${versionOf(url)}`;
  switch (target.kind) {
    case 'health':
      return { status: 200, contentType: 'application/json', body: '{"status":"healthy"}' };
    case 'messages':
      only('DELETE', method);
      return {
        status: 200,
        contentType: 'application/json',
        body: JSON.stringify({ purged: purge(target.path, context) }),
      };
    case 'namespace':
      only('GET', method);
      return atom(200, entryDocument(namespaceEntry(context, urlOf)));
    case 'list':
    case 'subscriptions':
    case 'rules':
      only('GET', method);
      return atom(200, page(url, entriesAt(target, context, urlOf)));
    case 'entity':
    case 'subscription':
    case 'rule':
      switch (method) {
        case 'GET':
          return atom(200, entryDocument(resourceAt(target, context).entry(urlOf)));
        case 'DELETE':
          resourceAt(target, context).remove();
          return { status: 200, contentType: 'text/plain', body: '' };
        case 'PUT': {
          const description = descriptionIn(request.body);
          const resource = described(description, resourceAt(target, context, description.name));
          if (request.isUpdate) resource.update(description.fields);
          else resource.create(description.fields);
          return atom(request.isUpdate ? 200 : 201, entryDocument(resource.entry(urlOf)));
        }
        default:
          throw new AdminError(405, `${method} is not supported here.`);
      }
  }
}

function described({ name }: Description, resource: Resource): Resource {
  if (resource.descriptionName === name) return resource;
  throw new AdminError(400, `SubCode=40000. Expected a ${resource.descriptionName}, got a ${name}.`);
}

function page(url: URL, entries: readonly Entry[]): string {
  const skip = countIn(url, '$skip', 0);
  const top = Math.min(countIn(url, '$top', PAGE), PAGE);
  const next = new URL(url);
  next.searchParams.set('$skip', String(skip + top));
  next.searchParams.set('$top', String(top));
  return feedDocument(url.href, entries.slice(skip, skip + top), skip + top < entries.length ? next.href : undefined);
}

function countIn(url: URL, name: string, absent: number): number {
  const text = url.searchParams.get(name);
  if (text === null) return absent;
  if (!/^\d+$/.test(text)) throw new AdminError(400, `${name} must be a number, got ${text}.`);
  return Number(text);
}

function namespaceEntry({ namespace, records, tier }: AdminContext, urlOf: UrlOf): Entry {
  const record = records.of(namespace);
  const description = {
    CreatedTime: instantText(record.createdUtc),
    ...(tier === 'premium' ? { MessagingSKU: 'Premium', MessagingUnits: '1' } : { MessagingSKU: 'Standard' }),
    ModifiedTime: instantText(record.updatedUtc),
    Name: NAMESPACE,
    NamespaceType: 'Messaging',
  };
  return { ...record, url: urlOf('$namespaceinfo'), title: NAMESPACE, name: 'NamespaceInfo', description };
}

/** Drops everything that a queue or a subscription holds, dead letters included. Other emulators have this; the service has not. */
function purge(path: string, { namespace }: AdminContext): number {
  const queue = namespace.find(path);
  if (queue?.kind !== 'queue') throw notFound(path);
  const purged = Number(messageCount(queue.counts()));
  queue.clear();
  return purged;
}

function only(supported: string, method: string): void {
  if (method !== supported) throw new AdminError(405, `${method} is not supported here.`);
}

function versionOf(url: URL): string {
  const version = url.searchParams.get('api-version');
  return version === null ? '' : `?api-version=${version}`;
}

function atom(status: number, body: string): AdminResponse {
  return { status, contentType: 'application/atom+xml; charset=utf-8', body };
}
