import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** A compiled app that is not in place yet. */
export interface Compiled {
  /** Puts it where the host loads from, instead of what was there. */
  install(): Promise<void>;
  /** Removes it, if it has not been installed. */
  discard(): Promise<void>;
}

/**
 * Compiles `functions/` and `cli/` into a folder of their own beside `dist`, which stays as it is: an app that runs may
 * load more of it, and a worker that crashes is started from it. The compiler's messages go to stderr.
 *
 * @param signal ends the compiler
 * @throws Error with one line where it does not compile; nothing is left then
 */
export async function compile(project: string, signal?: AbortSignal): Promise<Compiled> {
  const output = join(project, `dist.${randomUUID()}`);
  const compiled: Compiled = {
    install: async () => {
      const dist = join(project, 'dist');
      await rm(dist, { recursive: true, force: true });
      await rename(output, dist);
    },
    discard: () => rm(output, { recursive: true, force: true }),
  };
  try {
    await runCompiler(['-p', join(project, 'tsconfig.build.json'), '--outDir', output, '--noEmitOnError'], signal);
    return compiled;
  } catch (error) {
    await compiled.discard();
    throw error;
  }
}

/**
 * Compiles `functions/` and `cli/` into `dist`, which then holds nothing else.
 *
 * @throws as {@link compile} does; `dist` is as it was then
 */
export async function build(project: string, signal?: AbortSignal): Promise<void> {
  const compiled = await compile(project, signal);
  await compiled.install();
}

async function runCompiler(args: readonly string[], signal: AbortSignal | undefined): Promise<void> {
  const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  const child = spawn(process.execPath, [compiler, ...args], {
    stdio: ['ignore', 2, 2],
    ...(signal ? { signal } : {}),
  });
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once('exit', resolve);
    // After an abort comes `exit` as well, and only then does the compiler write no more.
    child.once('error', (error) => child.pid ?? reject(error));
  });
  signal?.throwIfAborted();
  if (status !== 0) throw new Error('The build failed: see the messages of the TypeScript compiler above.');
}

if (import.meta.main) await build(join(import.meta.dirname, '..'));
