import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The parameter files, each with a snapshot of its own. */
export const STAGES = ['dev', 'test', 'prod', 'prod-isolated'] as const;

/** What the template is made of, from the project's folder. */
export const SOURCES = [
  'bicepconfig.json',
  'local/entities.json',
  'infra/*.bicep',
  'infra/*.bicepparam',
  'infra/modules/*.bicep',
  'infra/overrides.json',
  'infra/queries/*.kql',
];

/** What is made of them, and committed. */
export const BUILT = ['infra/main.json', ...STAGES.map((stage) => `infra/snapshots/${stage}.json`)];

/** Where the hashes of both are kept. */
export const HASHES = 'infra/built.json';

/** The files of some patterns, with forward slashes, in an order that no machine changes. */
export const filesOf = (project: string, patterns: readonly string[]): string[] =>
  [...new Set(patterns.flatMap((pattern) => globSync(pattern, { cwd: project })))]
    .map((file) => file.replaceAll('\\', '/'))
    .sort();

/** A file's text with the line ends that git keeps. */
export const textOf = (project: string, file: string): string =>
  readFileSync(join(project, file), 'utf8').replaceAll('\r\n', '\n');

/** One hash over names and texts. */
export function hashOf(project: string, patterns: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of filesOf(project, patterns)) hash.update(`${file}\n${textOf(project, file)}\n`);
  return hash.digest('hex');
}
