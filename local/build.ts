import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** Empties `dist` and compiles `functions/` and `cli/` into it; the compiler's messages go to stderr. */
export function build(project: string): void {
  rmSync(join(project, 'dist'), { recursive: true, force: true });
  const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  const { status } = spawnSync(process.execPath, [compiler, '-p', join(project, 'tsconfig.build.json')], {
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) throw new Error('The build failed: see the messages of the TypeScript compiler above.');
}

if (import.meta.main) build(join(import.meta.dirname, '..'));
