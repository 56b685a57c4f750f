import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const QUERY = readFileSync(join(import.meta.dirname, '..', '..', 'infra', 'queries', 'retry-ratio.kql'), 'utf8');

/** A counter's value at its attributes. */
export interface Count {
  readonly name: string;
  readonly value: number;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/**
 * The retry ratio as the query of the alert computes it; the metric, the attribute and the outcomes are read from the
 * query itself.
 */
export function retryRatio(counts: readonly Count[]): { readonly attempts: number; readonly retryRatio: number } {
  const found = (pattern: RegExp): string => pattern.exec(QUERY)?.[1] ?? '';
  const metric = found(/name == '([\w.]+)'/);
  const attribute = found(/Outcome = tostring\(customDimensions\['([\w.]+)'\]\)/);
  const outcomes = [...found(/Outcome in \(([^)]+)\)/).matchAll(/'([\w-]+)'/g)].map(([, outcome]) => outcome);
  const redelivered = found(/Redelivered = sumif\(valueSum, Outcome == '([\w-]+)'\)/);
  const sum = (wanted: (outcome: unknown) => boolean) =>
    counts
      .filter(({ name, attributes }) => name === metric && wanted(attributes[attribute]))
      .reduce((total, { value }) => total + value, 0);
  const attempts = sum((outcome) => outcomes.includes(String(outcome)));
  return { attempts, retryRatio: sum((outcome) => outcome === redelivered) / attempts };
}
