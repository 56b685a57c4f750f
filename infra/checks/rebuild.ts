import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Compiler, runBicep } from './compiler.ts';
import { filesOf, SOURCES, STAGES, textOf } from './sources.ts';

/** The template and its snapshots as the compiler makes them, by the names under which they are committed. */
export type Built = Readonly<Record<string, string>>;

/** Stands for any subscription, so that every machine gets the same names. */
const SUBSCRIPTION = '00000000-0000-0000-0000-000000000000';

/**
 * Formats, lints, builds and takes the snapshots in a copy, so that a check changes nothing here.
 *
 * @param edit changes the copy first; then only snapshots are taken
 * @returns what was built, and what is wrong, a line each
 */
export async function rebuild(
  compiler: Extract<Compiler, { kind: 'found' }>,
  project: string,
  { edit, stages = STAGES }: { edit?: (copy: string) => Promise<void>; stages?: readonly string[] } = {},
): Promise<{ readonly built: Built; readonly problems: readonly string[] }> {
  const copy = await mkdtemp(join(tmpdir(), 'infra-'));
  const problems: string[] = [];
  try {
    const sources = filesOf(project, SOURCES);
    for (const file of sources) await cp(join(project, file), join(copy, file), { recursive: true });
    await edit?.(copy);
    const bicep = (...commandLine: string[]) => {
      const { exitCode, output } = runBicep(compiler, commandLine, copy);
      const lines = output.split(/\r?\n/).filter((line) => line.trim() !== '');
      const bad = exitCode === 0 ? lines.filter((line) => /: (Warning|Error|Info) /.test(line)) : lines;
      problems.push(...bad.map((line) => line.replaceAll(`${copy}/`, '').replaceAll(`/private${copy}/`, '')));
      return exitCode === 0;
    };
    const built: Record<string, string> = {};
    if (!edit) {
      for (const pattern of ['infra/*.bicep', 'infra/modules/*.bicep', 'infra/*.bicepparam']) {
        bicep('format', '--pattern', pattern);
      }
      const unformatted = sources.filter((file) => textOf(copy, file) !== textOf(project, file));
      problems.push(...unformatted.map((file) => `${file}: not formatted; run "bicep format ${file}"`));
      bicep('lint', '--no-restore', '--pattern', 'infra/*.bicepparam');
      const isBuilt = bicep('build', '--no-restore', 'infra/main.bicep');
      if (!isBuilt) return { built, problems: causesOf(problems) };
      built['infra/main.json'] = textOf(copy, 'infra/main.json');
    }
    for (const stage of stages) {
      const taken = bicep(
        'snapshot',
        `infra/${stage}.bicepparam`,
        ...['--subscription-id', SUBSCRIPTION, '--location', 'westeurope', '--deployment-name', stage],
      );
      if (taken) built[`infra/snapshots/${stage}.json`] = inOrder(textOf(copy, `infra/${stage}.snapshot.json`));
    }
    return { built, problems: causesOf(problems) };
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

/** What only says that something else is wrong. */
const CONSEQUENCE = /Error BCP104: The referenced module has errors|^Failed to generate snapshot/;

/** The problems, each once, without those that follow from others. */
export function causesOf(problems: readonly string[]): string[] {
  const causes = problems.filter((problem) => !CONSEQUENCE.test(problem));
  return [...new Set(causes.length > 0 ? causes : problems)];
}

/** Writes what was built where it is committed. */
export async function writeBuilt(project: string, built: Built): Promise<void> {
  for (const [file, text] of Object.entries(built)) {
    await mkdir(dirname(join(project, file)), { recursive: true });
    await writeFile(join(project, file), text);
  }
}

/** A snapshot with its outputs by name: the compiler gives them in any order. */
function inOrder(text: string): string {
  const { outputs, ...rest } = JSON.parse(text);
  const sorted = Object.fromEntries(Object.entries(outputs).sort(([a], [b]) => (a < b ? -1 : 1)));
  return `${JSON.stringify({ ...rest, outputs: sorted }, null, 2)}\n`;
}

/**
 * Whether two builds say the same: the compiler's version does not count, nor the hash of the template that follows from
 * it, nor the order of resources, which nothing promises.
 */
export function isSameBuild(a: string, b: string): boolean {
  return meaningOf(a) === meaningOf(b);
}

function meaningOf(text: string): string {
  const content = JSON.parse(text, (key, value) => (key === '_generator' ? undefined : value));
  const byId = (one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1);
  content.predictedResources?.sort(byId);
  return JSON.stringify(content);
}
