import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The well-known credentials of every Azurite; they protect nothing. */
const ACCOUNT_NAME = 'devstoreaccount1';
const ACCOUNT_KEY = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==';

const START_LIMIT_IN_MS = 30_000;
const OUTPUT_TAIL_IN_CHARACTERS = 2_000;

/** A running Azurite with its table service only; everything in it is lost when it stops. */
export interface Azurite {
  readonly connectionString: string;
  /** `http://127.0.0.1:<port>/devstoreaccount1`, without a trailing slash. */
  readonly tableEndpoint: string;
  readonly stop: () => Promise<void>;
}

/**
 * Starts Azurite as a child process that ends with this one, and waits until it listens.
 *
 * @param options.port 0, the default, takes a free one.
 * @param options.entryPoint the program to run instead of Azurite's own; for tests.
 * @throws Error with one clear line and the tail of the output when it ends or stays silent for 30 s.
 */
export async function startAzurite(
  options: { readonly port?: number; readonly entryPoint?: string } = {},
): Promise<Azurite> {
  const child = spawnAzurite(options.port ?? 0, options.entryPoint ?? tableService());
  const tail = keepOutputTail(child);
  const port = await portOf(child).catch(async (error: Error) => {
    await end(child);
    throw new Error(
      `Azurite did not start on 127.0.0.1:${options.port ?? 'a free port'}: ${error.message}. Its last output: ${tail() || '(none)'}`,
      { cause: error },
    );
  });
  const tableEndpoint = `http://127.0.0.1:${port}/${ACCOUNT_NAME}`;
  return {
    connectionString: `DefaultEndpointsProtocol=http;AccountName=${ACCOUNT_NAME};AccountKey=${ACCOUNT_KEY};TableEndpoint=${tableEndpoint};`,
    tableEndpoint,
    stop: () => end(child),
  };
}

function tableService(): string {
  const manifest = createRequire(import.meta.url).resolve('azurite/package.json');
  return join(dirname(manifest), 'dist', 'src', 'table', 'main.js');
}

function spawnAzurite(port: number, entryPoint: string): ChildProcess {
  const preloads = ['./exit-with-parent.ts', './report-port.ts'].flatMap((file) => [
    '--import',
    new URL(file, import.meta.url).href,
  ]);
  const service = ['--tableHost', '127.0.0.1', '--tablePort', String(port)];
  const quiet = ['--inMemoryPersistence', '--disableTelemetry', '--silent', '--skipApiVersionCheck'];
  return spawn(process.execPath, [...preloads, entryPoint, ...service, ...quiet], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // Ctrl-C in a terminal goes to the whole group: what is being drained still needs its tables.
    detached: true,
    windowsHide: true,
  });
}

function keepOutputTail(child: ChildProcess): () => string {
  let tail = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      tail = (tail + text).slice(-OUTPUT_TAIL_IN_CHARACTERS);
    });
  }
  return () => tail.trim();
}

function portOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    const limit = setTimeout(
      () => reject(new Error(`it does not listen after ${START_LIMIT_IN_MS / 1000} s`)),
      START_LIMIT_IN_MS,
    );
    const settle = (act: () => void) => {
      clearTimeout(limit);
      child.removeAllListeners('message').removeAllListeners('close').removeAllListeners('error');
      act();
    };
    child.once('message', (message: { port: number }) => settle(() => resolve(message.port)));
    // `close` and not `exit`: only then has the output that says why arrived as well.
    child.once('close', (code, signal) =>
      settle(() => reject(new Error(`it ended with ${signal ?? `exit code ${code}`}`))),
    );
    child.once('error', (error) => settle(() => reject(error)));
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  // Nothing of it is to be kept, so there is nothing to wait for.
  child.kill('SIGKILL');
  await ended;
}
