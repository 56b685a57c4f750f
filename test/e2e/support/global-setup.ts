import { spawnSync } from 'node:child_process';
import { existsSync, globSync, statSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { aTemporaryFolder, removeFolder } from '../../helpers/temporary-folder.ts';
import { copyApp, project } from './project.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A folder with the built app as it is deployed, for all tests of a run; read only. */
    readonly builtApp: string;
    /** A folder where Node keeps what it has compiled, for apps that are started often. */
    readonly compileCache: string;
  }
}

let builtApp: string | undefined;
let compileCache: string | undefined;

/** Builds the app once for the whole run, outside the project: `npm start` empties `dist` when it likes. */
export async function setup({ provide }: TestProject): Promise<void> {
  builtApp = await aTemporaryFolder('built-app');
  await copyApp(builtApp);
  const dist = join(builtApp, 'dist');
  if (distIsFresh()) await cp(join(project, 'dist'), dist, { recursive: true });
  else compileTo(dist);
  provide('builtApp', builtApp);
  compileCache = await aTemporaryFolder('compile-cache');
  provide('compileCache', compileCache);
}

export async function teardown(): Promise<void> {
  for (const folder of [builtApp, compileCache]) if (folder) await removeFolder(folder);
}

/** Whether each source has its output in `dist`, and none is newer than it. */
function distIsFresh(): boolean {
  const sources = globSync('{functions,cli}/**/*.ts', { cwd: project });
  return sources.every((source) => {
    const output = join(project, 'dist', source.replace(/\.ts$/, '.js'));
    return existsSync(output) && statSync(output).mtimeMs > statSync(join(project, source)).mtimeMs;
  });
}

function compileTo(dist: string): void {
  const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  const { status, stdout } = spawnSync(
    process.execPath,
    [compiler, '-p', join(project, 'tsconfig.build.json'), '--outDir', dist, '--noCheck'],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`The app does not compile:\n${stdout}`);
}
