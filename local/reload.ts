import { type FSWatcher, watch } from 'node:fs';
import type { Compiled } from './build.ts';
import type { Stack } from './stack.ts';

/** Editors save in several steps, and one save rarely comes alone: a build begins once nothing has changed for so long. */
const QUIET_IN_MS = 200;

/** What {@link reloadOnChange} works with. */
export interface ReloadOptions {
  readonly changes: Changes;
  readonly compile: (signal: AbortSignal) => Promise<Compiled>;
  readonly stack: Pick<Stack, 'restartHost'>;
  /** Told what became of each change, a line each. */
  readonly say: (line: string) => void;
}

/**
 * Rebuilds the app and restarts the host after each change, one at a time, until the signal fires. What is
 * in work is given back by the host as it stops; what waits in the broker waits on. An app that does not compile is not
 * installed: the old one runs on, and a worker that crashes is started again from the old build.
 */
export async function reloadOnChange(
  { changes, compile, stack, say }: ReloadOptions,
  signal: AbortSignal,
): Promise<void> {
  signal.addEventListener('abort', () => changes.close(), { once: true });
  if (signal.aborted) changes.close();
  while (await changes.next()) {
    const compiled = await compile(signal).catch((error: Error) => {
      if (!signal.aborted) say(`not restarted, the app runs on as it was. ${error.message}`);
    });
    if (!compiled) continue;
    try {
      // Saved again meanwhile: nobody wants to see what has just been built.
      if (changes.pending) continue;
      await stack.restartHost(() => compiled.install());
      say('rebuilt and restarted');
    } catch (error) {
      if (!signal.aborted) say(`stopped, nothing runs until the next change. ${(error as Error).message}`);
    } finally {
      await compiled.discard();
    }
  }
}

/** The changes below a folder from now on, many in a row as one. */
export class Changes {
  readonly #watcher: FSWatcher;
  #quiet: NodeJS.Timeout | undefined;
  #changed = Promise.withResolvers<void>();
  #closed = false;

  constructor(folder: string, say: (line: string) => void) {
    this.#watcher = watch(folder, { recursive: true }, () => {
      clearTimeout(this.#quiet);
      this.#quiet = setTimeout(() => this.#changed.resolve(), QUIET_IN_MS);
    });
    this.#watcher.on('error', (error) => say(`changes are no longer seen: ${error.message}`));
  }

  /** Whether something has changed since `next` resolved. */
  get pending(): boolean {
    return this.#quiet !== undefined;
  }

  /** Resolves when something has changed and it is quiet again; with false once it is closed. */
  async next(): Promise<boolean> {
    await this.#changed.promise;
    this.#changed = Promise.withResolvers();
    this.#quiet = undefined;
    return !this.#closed;
  }

  close(): void {
    this.#closed = true;
    this.#watcher.close();
    clearTimeout(this.#quiet);
    this.#changed.resolve();
  }
}
