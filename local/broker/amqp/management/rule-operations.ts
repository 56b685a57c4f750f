import rhea from 'rhea';
import { type CorrelationFilter, type Filter, type Rule, sqlAction, sqlFilter } from '../../model/filter/rule.ts';
import type { SystemField } from '../../model/filter/sql-expression.ts';
import type { Subscription } from '../../model/topic.ts';
import { CONDITION } from '../conditions.ts';
import { ManagementError, type Reply } from './reply.ts';
import type { ManagementRequest } from './request.ts';

const { types } = rhea;
/** Descriptors of the service's own types. */
const CODE = {
  ruleDescription: 1_335_734_829_060,
  emptyAction: 1_335_734_829_061,
  sqlAction: 1_335_734_829_062,
  sqlFilter: 83_483_426_822,
  trueFilter: 83_483_426_823,
  falseFilter: 83_483_426_824,
  correlationFilter: 83_483_426_825,
} as const;
const SQL_COMPATIBILITY_LEVEL = 20;
/** Fields of a correlation filter: their name in a request, in the order in which a reply lists them. */
const CORRELATION_FIELDS: readonly (readonly [string, SystemField])[] = [
  ['correlation-id', 'correlationId'],
  ['message-id', 'messageId'],
  ['to', 'to'],
  ['reply-to', 'replyTo'],
  ['label', 'subject'],
  ['session-id', 'sessionId'],
  ['reply-to-session-id', 'replyToSessionId'],
  ['content-type', 'contentType'],
];
type Dictionary = Record<string, unknown>;

export function addRule(request: ManagementRequest, { rules }: Subscription): Reply {
  const name = request.text('rule-name');
  if (rules.has(name)) {
    const description = `The rule '${name}' already exists.`;
    return { kind: 'failed', status: 409, error: { condition: CONDITION.entityExists, description } };
  }
  const description = request.map('rule-description') ?? {};
  const action = mapIn(description, 'sql-rule-action')?.['expression'];
  const rule: Rule = {
    name,
    filter: filterOf(description),
    action: typeof action === 'string' ? sqlAction(action) : undefined,
  };
  rules.set(name, rule);
  return { kind: 'done' };
}

export function removeRule(request: ManagementRequest, { rules }: Subscription): Reply {
  const name = request.text('rule-name');
  if (rules.delete(name)) return { kind: 'done' };
  const description = `The messaging entity '${name}' could not be found.`;
  return { kind: 'failed', status: 404, error: { condition: CONDITION.entityNotFound, description } };
}

export function enumerateRules(request: ManagementRequest, { rules }: Subscription): Reply {
  const skip = request.integer('skip');
  const listed = [...rules.values()].slice(skip, skip + request.integer('top'));
  if (listed.length === 0) return { kind: 'empty' };
  return { kind: 'done', body: { rules: listed.map((rule) => ({ 'rule-description': described(rule) })) } };
}

function filterOf(description: Dictionary): Filter {
  const sql = mapIn(description, 'sql-filter')?.['expression'];
  if (typeof sql === 'string') return sqlFilter(sql);
  const correlation = mapIn(description, 'correlation-filter');
  if (correlation !== undefined) return { kind: 'correlation', ...correlationOf(correlation) };
  throw new ManagementError(400, CONDITION.argument, 'A rule needs a sql-filter or a correlation-filter.');
}

function correlationOf(map: Dictionary): CorrelationFilter {
  const fields: Partial<Record<SystemField, string>> = {};
  for (const [key, field] of CORRELATION_FIELDS) {
    const value = map[key];
    if (typeof value === 'string') fields[field] = value;
  }
  const properties = new Map<string, string | number | boolean>();
  for (const [name, value] of Object.entries(mapIn(map, 'properties') ?? {})) {
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
      const text = `The property '${name}' of a correlation filter must be a string, a number or a boolean.`;
      throw new ManagementError(400, CONDITION.argument, text);
    }
    properties.set(name, value);
  }
  return { fields, properties };
}

function described({ name, filter, action }: Rule): unknown {
  const actionList = action === undefined ? list(CODE.emptyAction, []) : list(CODE.sqlAction, [action.text]);
  return list(CODE.ruleDescription, [describedFilter(filter), actionList, name]);
}

function describedFilter(filter: Filter): unknown {
  switch (filter.kind) {
    case 'true':
      return list(CODE.trueFilter, []);
    case 'false':
      return list(CODE.falseFilter, []);
    case 'sql':
      return list(CODE.sqlFilter, [filter.text, types.wrap_int(SQL_COMPATIBILITY_LEVEL)]);
    case 'correlation': {
      const fields = CORRELATION_FIELDS.map(([, field]) => filter.fields[field] ?? null);
      return list(CODE.correlationFilter, [...fields, types.wrap_map(Object.fromEntries(filter.properties))]);
    }
  }
}

function list(code: number, items: unknown[]): unknown {
  return types.described(types.wrap_ulong(code), types.wrap_list(items));
}

function mapIn(map: Dictionary, key: string): Dictionary | undefined {
  const value = map[key];
  return typeof value === 'object' && value !== null ? (value as Dictionary) : undefined;
}
