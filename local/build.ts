import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/**
 * Empties `dist` and compiles `functions/` and `cli/` into it; the compiler's messages go to stderr.
 *
 * @param signal ends the compiler
 * @throws Error with one line where it does not compile
 */
export async function build(project: string, signal?: AbortSignal): Promise<void> {
  rmSync(join(project, 'dist'), { recursive: true, force: true });
  const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  const child = spawn(process.execPath, [compiler, '-p', join(project, 'tsconfig.build.json')], {
    stdio: ['ignore', 2, 2],
    ...(signal ? { signal } : {}),
  });
  const [status] = await once(child, 'exit');
  if (status !== 0) throw new Error('The build failed: see the messages of the TypeScript compiler above.');
}

if (import.meta.main) await build(join(import.meta.dirname, '..'));
