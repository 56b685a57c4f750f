import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BICEP_VERSION, findCompiler } from './checks/compiler.ts';
import { problemsOfEntities } from './checks/entity-rules.ts';
import { policiesByQueue } from './checks/policies.ts';
import { type Built, isSameBuild, rebuild, writeBuilt } from './checks/rebuild.ts';
import { BUILT, HASHES, hashOf, SOURCES, textOf } from './checks/sources.ts';

const project = join(import.meta.dirname, '..');
const isWriting = process.argv.includes('--write');
const problems: string[] = [];

const json = (file: string) => JSON.parse(readFileSync(join(project, file), 'utf8'));
const say = (line: string) => process.stdout.write(`infra: ${line}\n`);

problems.push(
  ...problemsOfEntities(json('local/entities.json'), json('infra/overrides.json'), await policiesByQueue(project)),
);

const compiler = problems.length > 0 ? undefined : await findCompiler(process.env, join(import.meta.dirname, '.bicep'));
if (compiler?.kind === 'found') {
  say(`Bicep ${compiler.version} (${compiler.from}): format, lint, build, snapshots`);
  const made = await rebuild(compiler, project);
  problems.push(...made.problems);
  if (isWriting && problems.length === 0) {
    await write(made.built);
    say('written: main.json, snapshots, built.json');
  }
  if (problems.length === 0) problems.push(...differences(made.built, compiler.version));
} else if (compiler) {
  say(`THE COMPILER WAS NOT THERE (${compiler.tried.join('; ')}): nothing was compiled, only hashes were compared.`);
  if (isWriting) problems.push('--write needs the compiler');
  else problems.push(...staleness());
}

if (problems.length > 0) {
  for (const problem of problems) process.stderr.write(`infra: ${problem}\n`);
  process.exitCode = 1;
} else {
  say(compiler?.kind === 'found' ? 'all is well' : 'what is committed belongs to its sources');
}

async function write(built: Built): Promise<void> {
  await writeBuilt(project, built);
  const hashes = { bicep: BICEP_VERSION, sources: hashOf(project, SOURCES), built: hashOf(project, BUILT) };
  await writeFile(join(project, HASHES), `${JSON.stringify(hashes, null, 2)}\n`);
}

/** What is committed and not what the compiler makes now. */
function differences(built: Built, version: string): string[] {
  const stale = Object.entries(built)
    .filter(([file, text]) => !existsSync(join(project, file)) || !isSameBuild(textOf(project, file), text))
    .map(([file]) => file);
  if (stale.length > 0) {
    const other = version === BICEP_VERSION ? '' : ` (committed with Bicep ${BICEP_VERSION}, this is ${version})`;
    return [
      `not what the sources make${other}: ${stale.join(', ')}; run "npm run infra:build" and look at the changes`,
    ];
  }
  return staleness();
}

/** By hash: whether sources or what was made of them have been changed since. */
function staleness(): string[] {
  const committed = existsSync(join(project, HASHES)) ? json(HASHES) : {};
  const stale = [
    ...(committed.sources === hashOf(project, SOURCES) ? [] : ['the sources have changed']),
    ...(committed.built === hashOf(project, BUILT) ? [] : ['main.json or a snapshot has been changed by hand']),
  ];
  return stale.map(
    (what) => `${what} since infra/built.json was written; run "npm run infra:build" where Bicep or a .NET SDK is`,
  );
}
