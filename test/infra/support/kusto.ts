import { createRequire } from 'node:module';

/** What of Kusto's own language service is used here: it comes as a compiled .NET library that defines globals. */
interface List<T> {
  readonly Count: number;
  getItem(index: number): T;
}
interface Code {
  GetDiagnostics(): List<{ readonly Severity: string; readonly Message: string }>;
  readonly ResultType: { readonly Columns?: List<{ readonly Name: string }> } | null;
}
interface Kusto {
  readonly Language: {
    readonly KustoCode: { ParseAndAnalyze(query: string, globals: unknown): Code };
    readonly GlobalState: { readonly Default: { WithDatabase(database: unknown): unknown } };
    readonly Symbols: {
      readonly TableSymbol: { From(schema: string): { WithName(name: string): unknown } };
      readonly DatabaseSymbol: { readonly ctor: new (name: string, tables: readonly unknown[]) => unknown };
    };
  };
}

const require = createRequire(import.meta.url);
require('@kusto/language-service-next/bridge.min.js');
require('@kusto/language-service-next/Kusto.Language.Bridge.min.js');
const { Language } = (globalThis as unknown as { Kusto: Kusto }).Kusto;

/** Columns and their types, by table. */
export type Tables = Readonly<Record<string, Readonly<Record<string, string>>>>;

const itemsOf = <T>(list: List<T>): T[] => Array.from({ length: list.Count }, (_, index) => list.getItem(index));

/** Parses a query and binds it to tables. @returns what is wrong with it, and the columns that it gives */
export function analyse(query: string, tables: Tables): { problems: string[]; columns: string[] } {
  const { TableSymbol, DatabaseSymbol } = Language.Symbols;
  const symbols = Object.entries(tables).map(([name, columns]) => {
    const schema = Object.entries(columns).map(([column, type]) => `${column}: ${type}`);
    return TableSymbol.From(`(${schema.join(', ')})`).WithName(name);
  });
  const globals = Language.GlobalState.Default.WithDatabase(new DatabaseSymbol.ctor('tables', symbols));
  const code = Language.KustoCode.ParseAndAnalyze(query, globals);
  return {
    problems: itemsOf(code.GetDiagnostics()).map(({ Severity, Message }) => `${Severity}: ${Message}`),
    columns: code.ResultType?.Columns ? itemsOf(code.ResultType.Columns).map(({ Name }) => Name) : [],
  };
}
