import { existsSync } from 'node:fs';
import { cp, readFile, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The folder of this project. */
export const project = join(import.meta.dirname, '..', '..', '..');

/** What a deployment takes besides `dist`, and the entities that it works on. */
const APP_FILES = ['package.json', 'host.json', 'local.settings.json', 'local/entities.json'];
/** What the commands need besides that. */
const SOURCES = ['functions', 'cli', 'local', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];

/** Copies what a deployment takes into a folder, all but `dist`; the installed packages are linked. */
export async function copyApp(to: string): Promise<void> {
  await copy(APP_FILES, to);
  await symlink(join(project, 'node_modules'), join(to, 'node_modules'), 'junction');
}

/** Copies the sources into a folder, so that the commands can build there; the installed packages are linked. */
export async function copyProject(to: string): Promise<void> {
  await copyApp(to);
  await copy(SOURCES, to);
  await withoutTypeCheck(join(to, 'tsconfig.build.json'));
  // Older than any installation: the bootstrap must not install through the link.
  await utimes(join(to, 'package-lock.json'), 0, 0);
}

/** Most of a build's time goes to the types, and those are checked before any test runs. */
async function withoutTypeCheck(file: string): Promise<void> {
  const config = JSON.parse(await readFile(file, 'utf8'));
  config.compilerOptions.noCheck = true;
  await writeFile(file, JSON.stringify(config));
}

async function copy(names: readonly string[], to: string): Promise<void> {
  const present = names.filter((name) => existsSync(join(project, name)));
  for (const name of present) await cp(join(project, name), join(to, name), { recursive: true });
}
