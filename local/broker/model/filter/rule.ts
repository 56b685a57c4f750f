import type { Fields } from '../content.ts';
import { evaluate, valueIn } from './sql-evaluate.ts';
import type { Predicate, Statement, SystemField } from './sql-expression.ts';
import { type Parameters, parseAction, parseFilter } from './sql-parser.ts';

/** Values that a correlation filter compares for equality; all of those given must be equal. */
export type CorrelationFilter = {
  readonly fields: Readonly<Partial<Record<SystemField, string>>>;
  readonly properties: ReadonlyMap<string, string | number | boolean>;
};

/** Which messages a rule selects. */
export type Filter =
  | { readonly kind: 'true' }
  | { readonly kind: 'false' }
  | ({ readonly kind: 'sql'; readonly predicate: Predicate } & Sql)
  | ({ readonly kind: 'correlation' } & CorrelationFilter);

/** What a rule does to the copy of a message that it selects. */
export type Action = { readonly statements: readonly Statement[] } & Sql;

/** An expression as it was given, with the values of its parameters. */
export type Sql = { readonly text: string; readonly parameters?: Parameters };

/** A subscription's rule. */
export type Rule = { readonly name: string; readonly filter: Filter; readonly action: Action | undefined };

/** The rule of a subscription for which none was given. */
export const defaultRule: Rule = { name: '$Default', filter: { kind: 'true' }, action: undefined };

/** @throws SqlError when the text is no filter, or uses what this broker does not know */
export function sqlFilter(text: string, parameters?: Parameters): Filter {
  return { kind: 'sql', ...sqlOf(text, parameters), predicate: parseFilter(text, parameters) };
}

/** @throws SqlError when the text is no action, or uses what this broker does not know */
export function sqlAction(text: string, parameters?: Parameters): Action {
  return { ...sqlOf(text, parameters), statements: parseAction(text, parameters) };
}

function sqlOf(text: string, parameters: Parameters | undefined): Sql {
  return parameters === undefined ? { text } : { text, parameters };
}

/** Whether a filter selects a message. */
export function selects(filter: Filter, fields: Fields): boolean {
  switch (filter.kind) {
    case 'true':
      return true;
    case 'false':
      return false;
    case 'sql':
      return evaluate(filter.predicate, fields) === true;
    case 'correlation':
      return (
        Object.entries(filter.fields).every(([name, value]) => fields[name as SystemField] === value) &&
        [...filter.properties].every(([name, value]) => fields.applicationProperties.get(name) === value)
      );
  }
}

/** What an action changes: values to set, and `undefined` for what it removes. */
export function changesOf({ statements }: Action, fields: Fields): Map<string, string | number | boolean | undefined> {
  const applicationProperties = new Map(fields.applicationProperties);
  const changes = new Map<string, string | number | boolean | undefined>();
  for (const statement of statements) {
    const value = statement.kind === 'set' ? valueIn(statement.value, { ...fields, applicationProperties }) : undefined;
    changes.set(statement.name, value);
    applicationProperties.set(statement.name, value);
  }
  return changes;
}
