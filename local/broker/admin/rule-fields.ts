import {
  type Action,
  type CorrelationFilter,
  type Filter,
  type Rule,
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
        : { [ATTRIBUTES]: { 'i:type': 'SqlRuleAction' }, SqlExpression: action.text, CompatibilityLevel: '20' },
    Name: name,
  };
}

function filterOf(filter: XmlElement | undefined): Filter {
  const type = filter === undefined ? 'TrueFilter' : typeOf(filter);
  refuseParameters(filter);
  switch (type) {
    case 'TrueFilter':
      return { kind: 'true' };
    case 'FalseFilter':
      return { kind: 'false' };
    case 'SqlFilter':
      return sqlFilter(textOf(filter, 'SqlExpression') ?? '');
    case 'CorrelationFilter':
      return { kind: 'correlation', ...correlationOf(filter ?? {}) };
    default:
      throw new AdminError(400, `SubCode=40000. A filter of type ${type} is not supported.`);
  }
}

function actionOf(action: XmlElement | undefined): Action | undefined {
  refuseParameters(action);
  const text = textOf(action, 'SqlExpression');
  return text === undefined || text === '' ? undefined : sqlAction(text);
}

function correlationOf(filter: XmlElement): CorrelationFilter {
  const fields: Partial<Record<SystemField, string>> = {};
  for (const [name, field] of SYSTEM_FIELDS) {
    const text = textOf(filter, name);
    if (text !== undefined) fields[field] = text;
  }
  const pairs = listOf(childOf(filter, 'Properties')?.[PAIR]).map(
    (pair) => [textOf(pair, 'Key') ?? '', scalarOf(childOf(pair, 'Value'))] as const,
  );
  return { fields, properties: new Map(pairs) };
}

function scalarOf(value: XmlElement | undefined): Scalar {
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
      throw new AdminError(400, `SubCode=40000. A property of type ${type} in a correlation filter is not supported.`);
  }
}

function filterFields(filter: Filter): XmlElement {
  switch (filter.kind) {
    case 'true':
      return { [ATTRIBUTES]: { 'i:type': 'TrueFilter' }, SqlExpression: '1=1', CompatibilityLevel: '20' };
    case 'false':
      return { [ATTRIBUTES]: { 'i:type': 'FalseFilter' }, SqlExpression: '1=0', CompatibilityLevel: '20' };
    case 'sql':
      return { [ATTRIBUTES]: { 'i:type': 'SqlFilter' }, SqlExpression: filter.text, CompatibilityLevel: '20' };
    case 'correlation': {
      const system = SYSTEM_FIELDS.map(([name, field]) => [name, filter.fields[field]] as const);
      const pairs = [...filter.properties].map(([Key, value]) => ({ Key, Value: scalarFields(value) }));
      const Properties = pairs.length === 0 ? undefined : { [PAIR]: pairs };
      return { [ATTRIBUTES]: { 'i:type': 'CorrelationFilter' }, ...Object.fromEntries(system), Properties };
    }
  }
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

function refuseParameters(element: XmlElement | undefined): void {
  if (listOf(childOf(element, 'Parameters')?.[PAIR]).length === 0) return;
  throw new AdminError(400, 'SubCode=40000. Parameters of SQL expressions are not supported.');
}

function listOf(value: XmlValue): readonly XmlValue[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}
