import { randomUUID } from 'node:crypto';
import type { LogEntry } from './log-entry.ts';
import { traceContext } from './trace-context.ts';
import type { WorkerKeeper } from './worker-keeper.ts';
import type { FunctionMetadata, InvocationOutcome, TypedData } from './worker-protocol.ts';

/** One step in the life of an invocation, for whoever follows along. */
export type InvocationEvent =
  | { readonly kind: 'started'; readonly functionName: string; readonly invocationId: string }
  | {
      readonly kind: 'succeeded' | 'failed';
      readonly functionName: string;
      readonly invocationId: string;
      readonly durationInMs: number;
      /** Why it failed. */
      readonly error?: string;
    };

/** What a trigger has for its function. */
export interface Firing {
  readonly data: TypedData;
  readonly triggerMetadata: Readonly<Record<string, TypedData>>;
  /** Printed with the start of the invocation. */
  readonly details?: string;
  /** Why the invocation happens, where there is more to say than that the trigger fired. */
  readonly reason?: string;
  readonly cause?: { readonly traceParent?: unknown; readonly traceState?: unknown };
}

export interface InvokerOptions {
  readonly worker: WorkerKeeper;
  readonly onLog: (entry: LogEntry) => void;
  readonly onInvocation: (event: InvocationEvent) => void;
  /** From the hand-over to the worker on, in ms; undefined is without limit. */
  readonly functionTimeoutInMs: number | undefined;
}

/** Runs invocations on the worker, with the log lines and the time limit of the host. */
export class Invoker {
  readonly #options: InvokerOptions;

  constructor(options: InvokerOptions) {
    this.#options = options;
  }

  /** Runs one invocation to its end. Never rejects; a time limit that is exceeded takes the whole worker with it. */
  async invoke(target: FunctionMetadata, firing: Firing): Promise<InvocationOutcome> {
    const invocationId = randomUUID();
    const run = { functionName: target.name, invocationId };
    const startedAtMs = performance.now();
    this.#log(
      run,
      'information',
      `Executing 'Functions.${target.name}' (Reason='${firing.reason ?? '(null)'}', Id=${invocationId})`,
    );
    if (firing.details) this.#log(run, 'information', `Trigger Details: ${firing.details}`);
    this.#options.onInvocation({ kind: 'started', ...run });

    const outcome = await this.#runWithinLimit(target, invocationId, firing);

    const durationInMs = Math.round(performance.now() - startedAtMs);
    const ended = `(${outcome.kind === 'failed' ? 'Failed' : 'Succeeded'}, Id=${invocationId}, Duration=${durationInMs}ms)`;
    if (outcome.kind === 'failed') {
      this.#log(run, 'error', `Executed 'Functions.${target.name}' ${ended}\n${outcome.error.stack}`);
      this.#options.onInvocation({ kind: 'failed', ...run, durationInMs, error: outcome.error.message });
    } else {
      this.#log(run, 'information', `Executed 'Functions.${target.name}' ${ended}`);
      this.#options.onInvocation({ kind: 'succeeded', ...run, durationInMs });
    }
    return outcome;
  }

  async #runWithinLimit(target: FunctionMetadata, invocationId: string, firing: Firing): Promise<InvocationOutcome> {
    const [bindingName = ''] = Object.entries(target.bindings).find(([, { type }]) => /trigger$/i.test(type)) ?? [];
    const limitInMs = this.#options.functionTimeoutInMs;
    let limit: NodeJS.Timeout | undefined;
    const outcome = await this.#options.worker.invoke(
      {
        invocationId,
        functionId: target.functionId,
        inputData: [{ name: bindingName, data: firing.data }],
        triggerMetadata: firing.triggerMetadata,
        traceContext: traceContext(firing.cause),
        retryContext: null,
      },
      (kill) => {
        if (limitInMs === undefined) return;
        limit = setTimeout(() => {
          const message = `Timeout value of ${limitInMs / 1000} s exceeded by function 'Functions.${target.name}' (Id: '${invocationId}').`;
          this.#log(
            { functionName: target.name, invocationId },
            'error',
            `${message} Its worker process is killed, with everything else that runs on it.`,
          );
          kill(message);
        }, limitInMs);
      },
    );
    clearTimeout(limit);
    return outcome;
  }

  #log(run: { functionName: string; invocationId: string }, level: LogEntry['level'], message: string): void {
    this.#options.onLog({ level, category: `Function.${run.functionName}`, message, ...run });
  }
}
