import { z } from 'zod';
import { type Action, type Filter, type Rule, sqlAction, sqlFilter } from '../model/filter/rule.ts';
import type { SystemField } from '../model/filter/sql-expression.ts';
import { SqlError } from '../model/filter/sql-lexer.ts';
import { childName, leaf, optionalText } from './leaf.ts';

const CORRELATION_FIELDS = {
  ContentType: 'contentType',
  CorrelationId: 'correlationId',
  Label: 'subject',
  MessageId: 'messageId',
  ReplyTo: 'replyTo',
  ReplyToSessionId: 'replyToSessionId',
  SessionId: 'sessionId',
  To: 'to',
} as const satisfies Record<string, SystemField>;
type FieldName = keyof typeof CORRELATION_FIELDS;

const fieldNames = Object.keys(CORRELATION_FIELDS) as FieldName[];
const scalar = leaf('a string, a number or a boolean', (value) =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : undefined,
);
const correlation = z.strictObject({
  ...(Object.fromEntries(fieldNames.map((name) => [name, optionalText()])) as Record<
    FieldName,
    ReturnType<typeof optionalText>
  >),
  Properties: z.record(z.string(), scalar).prefault({}),
});
const filterType = leaf('"Sql" or "Correlation"', (value) =>
  value === 'Sql' || value === 'Correlation' ? value : undefined,
);

/** A subscription's rule, with its filter and action compiled. */
export const ruleSchema = z
  .strictObject({
    Name: childName(),
    Properties: z.strictObject({
      FilterType: filterType,
      SqlFilter: z.strictObject({ SqlExpression: sql(sqlFilter, 'a SQL filter') }).optional(),
      CorrelationFilter: correlation.optional(),
      Action: z.strictObject({ SqlExpression: sql(sqlAction, 'a SQL action') }).optional(),
    }),
  })
  .transform(({ Name, Properties }, context): Rule => {
    const { FilterType, SqlFilter, CorrelationFilter, Action } = Properties;
    const filter = FilterType === 'Sql' ? SqlFilter?.SqlExpression : CorrelationFilter && compiled(CorrelationFilter);
    if (filter !== undefined) return { name: Name, filter, action: Action?.SqlExpression };
    const path = ['Properties', `${FilterType}Filter`];
    context.addIssue({ code: 'custom', message: `a ${FilterType}Filter, as the FilterType says`, path });
    return z.NEVER;
  });

function compiled(filter: z.output<typeof correlation>): Filter {
  const given = fieldNames
    .filter((name) => filter[name] !== '')
    .map((name) => [CORRELATION_FIELDS[name], filter[name]]);
  const properties = new Map(Object.entries(filter.Properties));
  return { kind: 'correlation', fields: Object.fromEntries(given), properties };
}

/** The reason why an expression is refused goes into the message. */
function sql<T extends Filter | Action>(compile: (text: string) => T, what: string) {
  return z.unknown().transform((value, context): T => {
    try {
      if (typeof value === 'string') return compile(value);
      context.addIssue({ code: 'custom', message: what });
    } catch (error) {
      if (!(error instanceof SqlError)) throw error;
      context.addIssue({ code: 'custom', message: `${what} (${error.message})` });
    }
    return z.NEVER;
  });
}
