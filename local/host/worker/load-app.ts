import { glob, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { toError } from './to-error.ts';

/**
 * Loads the files that `main` of the app's package.json matches, one after the other, in alphabetical order.
 *
 * @throws Error whose first line says what could not be loaded; the real host starts no function then either.
 */
export async function loadApp(appDirectory: string): Promise<void> {
  const { main, type } = await readManifest(appDirectory);
  if (!main) {
    throw new Error(
      `package.json in ${appDirectory} has no "main". Expected a glob of the files that register functions, e.g. "dist/functions/*.js".`,
    );
  }
  try {
    const files: string[] = [];
    for await (const file of glob(main, { cwd: appDirectory })) files.push(file);
    if (files.length === 0) throw new Error('Found zero files matching the supplied pattern');
    for (const file of files.sort()) await loadFile(join(appDirectory, file), type === 'module');
  } catch (thrown) {
    const error = toError(thrown);
    throw new Error(`Worker was unable to load entry point "${main}": ${error.message}`, { cause: error });
  }
}

async function loadFile(path: string, packageIsModule: boolean): Promise<void> {
  const isModule = path.endsWith('.mjs') || (packageIsModule && !path.endsWith('.cjs'));
  if (isModule) await import(pathToFileURL(path).href);
  else createRequire(path)(path);
}

async function readManifest(appDirectory: string): Promise<{ main?: string; type?: string }> {
  const path = join(appDirectory, 'package.json');
  try {
    return JSON.parse(await readFile(path, 'utf8')) as { main?: string; type?: string };
  } catch (thrown) {
    throw new Error(`Cannot read ${path}: ${toError(thrown).message}. Expected the package.json of a function app.`);
  }
}
