import { AdminError } from './admin-error.ts';
import { ATTRIBUTES, buildXml, childOf, parseXml, TEXT, type XmlElement } from './xml.ts';

const ATOM = 'http://www.w3.org/2005/Atom';
const SERVICE_BUS = 'http://schemas.microsoft.com/netservices/2010/10/servicebus/connect';
const SCHEMA_INSTANCE = 'http://www.w3.org/2001/XMLSchema-instance';

/** The roots that the description of an entity can have. */
const DESCRIPTION_NAMES = [
  'QueueDescription',
  'TopicDescription',
  'SubscriptionDescription',
  'RuleDescription',
] as const;
export type DescriptionName = (typeof DESCRIPTION_NAMES)[number];

/** An entity as the API shows it. */
export type Entry = {
  /** What clients read the name from. */
  readonly url: string;
  readonly title: string;
  readonly createdUtc: number;
  readonly updatedUtc: number;
  readonly name: DescriptionName | 'NamespaceInfo';
  readonly description: XmlElement;
};

/** What the body of a request says that an entity is. */
export type Description = { readonly name: DescriptionName; readonly fields: XmlElement };

/**
 * The description in the body of a request to make or change an entity.
 *
 * @throws AdminError when it is not an Atom entry with one
 */
export function descriptionIn(body: string): Description {
  const content = childOf(childOf(parseXml(body), 'entry'), 'content') ?? {};
  const name = DESCRIPTION_NAMES.find((one) => one in content);
  if (name === undefined) {
    throw new AdminError(400, `The body must be an Atom entry with one of ${DESCRIPTION_NAMES.join(', ')}.`);
  }
  const { [ATTRIBUTES]: _namespaces, ...fields } = childOf(content, name) ?? {};
  return { name, fields };
}

export function entryDocument(entry: Entry): string {
  return buildXml({ entry: entryElement(entry, { xmlns: ATOM }) });
}

/** A page of entries; `nextUrl` where more follow. */
export function feedDocument(url: string, entries: readonly Entry[], nextUrl: string | undefined): string {
  const link = [
    { [ATTRIBUTES]: { rel: 'self', href: url } },
    ...(nextUrl === undefined ? [] : [{ [ATTRIBUTES]: { rel: 'next', href: nextUrl } }]),
  ];
  const title = { [ATTRIBUTES]: { type: 'text' }, [TEXT]: 'Entities' };
  const entry = entries.map((one) => entryElement(one, {}));
  return buildXml({ feed: { [ATTRIBUTES]: { xmlns: ATOM }, title, id: url, link, entry } });
}

export function errorDocument(status: number, detail: string): string {
  return buildXml({ Error: { Code: String(status), Detail: detail } });
}

/** An instant as the service writes it. */
export function instantText(instantUtc: number): string {
  return new Date(instantUtc).toISOString();
}

function entryElement(entry: Entry, attributes: XmlElement): XmlElement {
  const namespaces = { xmlns: SERVICE_BUS, 'xmlns:i': SCHEMA_INSTANCE };
  return {
    [ATTRIBUTES]: attributes,
    id: entry.url,
    title: { [ATTRIBUTES]: { type: 'text' }, [TEXT]: entry.title },
    published: instantText(entry.createdUtc),
    updated: instantText(entry.updatedUtc),
    link: { [ATTRIBUTES]: { rel: 'self', href: entry.url } },
    content: {
      [ATTRIBUTES]: { type: 'application/xml' },
      [entry.name]: { [ATTRIBUTES]: namespaces, ...entry.description },
    },
  };
}
