import {
  type Action,
  type CorrelationFilter,
  type Filter,
  type Rule,
  type Sql,
  sqlAction,
  sqlFilter,
} from '../model/filter/rule.ts';
import type { SystemField } from '../model/filter/sql-expression.ts';
import { SqlError } from '../model/filter/sql-lexer.ts';
import { AdminError } from './admin-error.ts';
import { ATTRIBUTES, childOf, elementOf, TEXT, textOf, type XmlElement, type XmlValue } from './xml.ts';

const XML_SCHEMA = 'http://www.w3.org/2001/XMLSchema';
const PAIR = 'KeyValueOfstringanyType';
const SYSTEM_FIELDS: readonly (readonly [string, SystemField])[] = [
  ['CorrelationId', 'correlationId'],
  ['MessageId', 'messageId'],
  ['To', 'to'],
  ['ReplyTo', 'replyTo'],
  ['Label', 'subject'],
  ['SessionId', 'sessionId'],
  ['ReplyToSessionId', 'replyToSessionId'],
  ['ContentType', 'contentType'],
];
type Scalar = string | number | boolean;

/** @throws AdminError when the rule cannot be accepted, with the reason */
export function ruleOf(name: string, fields: XmlElement): Rule {
  try {
    return { name, filter: filterOf(childOf(fields, 'Filter')), action: actionOf(childOf(fields, 'Action')) };
  } catch (error) {
    if (error instanceof SqlError) throw new AdminError(400, `SubCode=40000. Rule '${name}': ${error.message}`);
    throw error;
  }
}

export function ruleFields({ name, filter, action }: Rule): XmlElement {
  return {
    Filter: filterFields(filter),
    Action:
      action === undefined
        ? { [ATTRIBUTES]: { 'i:type': 'EmptyRuleAction' } }
        : { [ATTRIBUTES]: { 'i:type': 'SqlRuleAction' }, ...sqlFields(action) },
    Name: name,
  };
}

function filterOf(filter: XmlElement | undefined): Filter {
  const type = filter === undefined ? 'TrueFilter' : typeOf(filter);
  switch (type) {
    case 'TrueFilter':
      return { kind: 'true' };
    case 'FalseFilter':
      return { kind: 'false' };
    case 'SqlFilter':
      return sqlFilter(textOf(filter, 'SqlExpression') ?? '', parametersOf(filter));
    case 'CorrelationFilter':
      return { kind: 'correlation', ...correlationOf(filter ?? {}) };
    default:
      throw new AdminError(400, `SubCode=40000. A filter of type ${type} is not supported.`);
  }
}

function actionOf(action: XmlElement | undefined): Action | undefined {
  const text = textOf(action, 'SqlExpression');
  return text === undefined || text === '' ? undefined : sqlAction(text, parametersOf(action));
}

function correlationOf(filter: XmlElement): CorrelationFilter {
  const fields: Partial<Record<SystemField, string>> = {};
  for (const [name, field] of SYSTEM_FIELDS) {
    const text = textOf(filter, name);
    if (text !== undefined) fields[field] = text;
  }
  return { fields, properties: pairsOf(filter, 'Properties') };
}

function parametersOf(element: XmlElement | undefined): Map<string, Scalar> | undefined {
  const parameters = pairsOf(element, 'Parameters');
  return parameters.size === 0 ? undefined : parameters;
}

function pairsOf(element: XmlElement | undefined, name: string): Map<string, Scalar> {
  const pairs = listOf(childOf(element, name)?.[PAIR]);
  return new Map(pairs.map((pair) => [textOf(pair, 'Key') ?? '', scalarOf(name, pair)]));
}

function scalarOf(list: string, pair: XmlValue): Scalar {
  const value = childOf(pair, 'Value');
  const type = value === undefined ? undefined : typeOf(value);
  const text = typeof value?.[TEXT] === 'string' ? value[TEXT] : '';
  switch (type) {
    case 'string':
      return text;
    case 'int':
    case 'long':
    case 'double':
      return Number(text);
    case 'boolean':
      return text === 'true';
    default:
      throw new AdminError(400, `SubCode=40000. A value of type ${type} is not supported in ${list}.`);
  }
}

function filterFields(filter: Filter): XmlElement {
  switch (filter.kind) {
    case 'true':
      return { [ATTRIBUTES]: { 'i:type': 'TrueFilter' }, SqlExpression: '1=1', CompatibilityLevel: '20' };
    case 'false':
      return { [ATTRIBUTES]: { 'i:type': 'FalseFilter' }, SqlExpression: '1=0', CompatibilityLevel: '20' };
    case 'sql':
      return { [ATTRIBUTES]: { 'i:type': 'SqlFilter' }, ...sqlFields(filter) };
    case 'correlation': {
      const system = SYSTEM_FIELDS.map(([name, field]) => [name, filter.fields[field]] as const);
      const Properties = pairFields(filter.properties);
      return { [ATTRIBUTES]: { 'i:type': 'CorrelationFilter' }, ...Object.fromEntries(system), Properties };
    }
  }
}

function sqlFields({ text, parameters = new Map() }: Sql): XmlElement {
  return { SqlExpression: text, CompatibilityLevel: '20', Parameters: pairFields(parameters) };
}

function pairFields(values: ReadonlyMap<string, Scalar>): XmlElement | undefined {
  if (values.size === 0) return undefined;
  return { [PAIR]: [...values].map(([Key, value]) => ({ Key, Value: scalarFields(value) })) };
}

function scalarFields(value: Scalar): XmlElement {
  const type = typeof value === 'number' ? (Number.isInteger(value) ? 'int' : 'double') : typeof value;
  return { [ATTRIBUTES]: { 'i:type': `d6p1:${type}`, 'xmlns:d6p1': XML_SCHEMA }, [TEXT]: String(value) };
}

/** The type that an element states, whatever the prefixes are: clients invent their own. */
function typeOf(element: XmlElement): string | undefined {
  const attributes = elementOf(element[ATTRIBUTES]) ?? {};
  const name = Object.keys(attributes).find((key) => key === 'type' || key.endsWith(':type'));
  const type = name === undefined ? undefined : attributes[name];
  return typeof type === 'string' ? type.replace(/^.*:/, '') : undefined;
}

function listOf(value: XmlValue): readonly XmlValue[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}
