import { XMLBuilder, XMLParser, XMLValidator } from 'fast-xml-parser';
import { AdminError } from './admin-error.ts';

/** An element: its text alone, or its children by name with its attributes under {@link ATTRIBUTES}. */
export type XmlValue = string | XmlElement | XmlValue[] | undefined;
export type XmlElement = { readonly [name: string]: XmlValue };

export const ATTRIBUTES = '$';
export const TEXT = '_';
const OPTIONS = {
  attributesGroupName: ATTRIBUTES,
  attributeNamePrefix: '',
  textNodeName: TEXT,
  ignoreAttributes: false,
};
const parser = new XMLParser({ ...OPTIONS, parseTagValue: false, parseAttributeValue: false });
const builder = new XMLBuilder({ ...OPTIONS, suppressBooleanAttributes: false });

/** @throws AdminError when the text is no XML */
export function parseXml(text: string): XmlElement {
  const validity = XMLValidator.validate(text);
  if (validity !== true) throw new AdminError(400, `The body is not XML: ${validity.err.msg}`);
  return parser.parse(text);
}

export function buildXml(document: XmlElement): string {
  return `<?xml version="1.0" encoding="utf-8"?>${builder.build(document)}`;
}

/** The element of that name inside another, `undefined` where there is none or it holds text only. */
export function childOf(value: XmlValue, name: string): XmlElement | undefined {
  const child = elementOf(value)?.[name];
  return elementOf(child);
}

/** The text of the element of that name inside another. An element without text has the text `''`. */
export function textOf(value: XmlValue, name: string): string | undefined {
  const child = elementOf(value)?.[name];
  if (child === undefined || typeof child === 'string') return child;
  const text = elementOf(child)?.[TEXT];
  return typeof text === 'string' ? text : undefined;
}

export function elementOf(value: XmlValue): XmlElement | undefined {
  return typeof value === 'object' && !Array.isArray(value) ? value : undefined;
}
