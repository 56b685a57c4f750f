import { startWorkerProcess, type WorkerOptions, type WorkerProcess } from './worker-process.ts';
import type { FunctionMetadata, InvocationOutcome, InvocationRequest } from './worker-protocol.ts';

const FIRST_RESTART_DELAY_IN_MS = 100;
const LONGEST_RESTART_DELAY_IN_MS = 5_000;

/** How long to wait before the restart after so many ends in a row (from 1), in ms: doubles from 100 up to 5000. */
export function restartDelayInMs(endsInARow: number): number {
  return Math.min(LONGEST_RESTART_DELAY_IN_MS, FIRST_RESTART_DELAY_IN_MS * 2 ** (endsInARow - 1));
}

/** Keeps one worker process alive: what crashes is started again, and invocations wait for it. */
export class WorkerKeeper {
  readonly functions: readonly FunctionMetadata[];
  readonly #options: WorkerOptions;
  #worker: Promise<WorkerProcess>;
  #endsInARow = 0;
  readonly #stop = new AbortController();

  /** @throws Error with the app's message when the first start fails; later ones are logged and repeated. */
  static async start(options: WorkerOptions): Promise<WorkerKeeper> {
    return new WorkerKeeper(options, await startWorkerProcess(options));
  }

  private constructor(options: WorkerOptions, worker: WorkerProcess) {
    this.#options = options;
    this.#worker = Promise.resolve(worker);
    this.functions = worker.functions;
    this.#watch(worker);
  }

  /** The process id of the worker, once there is one. */
  async pid(): Promise<number> {
    return (await this.#worker).pid;
  }

  /**
   * Waits for a worker if need be, and never rejects.
   *
   * @param onStart told when the invocation is handed to a worker, with what kills that very worker.
   */
  async invoke(
    request: InvocationRequest,
    onStart?: (kill: (reason: string) => void) => void,
  ): Promise<InvocationOutcome> {
    try {
      const worker = await this.#living();
      onStart?.((reason) => worker.kill(reason));
      const outcome = await worker.invoke(request);
      if (outcome.kind === 'succeeded') this.#endsInARow = 0;
      return outcome;
    } catch (error) {
      const { message } = error as Error;
      return { kind: 'failed', error: { message, stack: message } };
    }
  }

  /** Ends the worker with its appTerminate hooks; nothing is restarted any more. */
  async stop(limitInMs: number): Promise<void> {
    this.#stop.abort();
    const worker = await this.#worker.catch(() => undefined);
    await worker?.terminate(limitInMs);
  }

  async #living(): Promise<WorkerProcess> {
    for (;;) {
      const worker = await this.#worker;
      if (worker.alive) return worker;
      // `#watch` was told first: by then the promise is that of the next process.
      await worker.ended;
    }
  }

  #watch(worker: WorkerProcess): void {
    void worker.ended.then((reason) => {
      if (this.#stop.signal.aborted) return;
      this.#worker = this.#restart(reason);
      this.#worker.catch(() => undefined);
    });
  }

  async #restart(firstReason: string): Promise<WorkerProcess> {
    for (let reason = firstReason; ; ) {
      this.#endsInARow += 1;
      const delayInMs = restartDelayInMs(this.#endsInARow);
      this.#options.onLog({
        level: 'error',
        category: 'Host.Worker',
        message: `${reason} It is started again in ${delayInMs} ms.`,
      });
      await pause(delayInMs, this.#stop.signal);
      if (this.#stop.signal.aborted) throw new Error('The host is stopping.');
      try {
        const worker = await startWorkerProcess(this.#options);
        this.#watch(worker);
        return worker;
      } catch (error) {
        reason = (error as Error).message;
      }
    }
  }
}

function pause(delayInMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(end, delayInMs);
    function end() {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    }
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}
