import type { LogLevel } from '../log-entry.ts';
import type { FunctionMetadata, InvocationRequest, InvocationResponse } from '../worker-protocol.ts';
import { currentInvocation, report } from './report.ts';

/** Names an app may register hooks under. */
export const HOOK_NAMES = ['preInvocation', 'postInvocation', 'appStart', 'appTerminate', 'log'] as const;

export type HookName = (typeof HOOK_NAMES)[number];
export type HookCallback = (context: unknown) => unknown;
export type HookData = Record<string, unknown>;
export type FunctionCallback = (...parameters: unknown[]) => unknown;
export type LogCategory = 'user' | 'system';

/** What a programming model such as `@azure/functions` must offer; the names are the real worker's. */
export interface ProgrammingModel {
  readonly name: string;
  readonly version: string;
  getInvocationModel(context: CoreInvocationContext): InvocationModel | Promise<InvocationModel>;
  getCapabilities?(defaults: Record<string, string>): Record<string, string> | Promise<Record<string, string>>;
}

export interface InvocationModel {
  getArguments(): Promise<{ context: unknown; inputs: unknown[] }>;
  invokeFunction(context: unknown, inputs: unknown[], callback: FunctionCallback): Promise<unknown>;
  getResponse(context: unknown, result: unknown): Promise<InvocationResponse>;
}

export interface CoreInvocationContext {
  readonly invocationId: string;
  readonly request: InvocationRequest;
  readonly metadata: FunctionMetadata;
  state?: 'preInvocationHooks' | 'invocation' | 'postInvocationHooks' | undefined;
  log(level: LogLevel | 'none', category: LogCategory, message: string): void;
}

export interface RegisteredFunction {
  readonly metadata: FunctionMetadata;
  readonly callback: FunctionCallback;
}

/** Everything the app has told the worker so far. One worker process holds one app. */
export class App {
  programmingModel: ProgrammingModel | undefined;
  readonly functions = new Map<string, RegisteredFunction>();
  readonly hooks: Readonly<Record<HookName, HookCallback[]>> = {
    preInvocation: [],
    postInvocation: [],
    appStart: [],
    appTerminate: [],
    log: [],
  };
  /** Shared by all hooks of all scopes. */
  readonly appHookData: HookData = {};
  /** Shared by the hooks of the app's own life, start and terminate. */
  readonly appLevelHookData: HookData = {};
  registrationIsOpen = true;

  registerFunction(
    metadata: Omit<FunctionMetadata, 'functionId'> & { readonly functionId?: string },
    callback: FunctionCallback,
  ): () => void {
    if (!this.registrationIsOpen) throw new Error('A function can only be registered during app startup.');
    const functionId = metadata.functionId || metadata.name;
    if (this.functions.has(functionId)) {
      throw new Error(
        `A function with id "${functionId}" has already been registered. What to do: rename one of them.`,
      );
    }
    const name = metadata.name || functionId;
    const { bindings, retryOptions } = metadata;
    this.functions.set(functionId, { metadata: { functionId, name, bindings, retryOptions }, callback });
    return () => {
      if (!this.registrationIsOpen) throw new Error('A function can only be disposed during app startup.');
      this.functions.delete(functionId);
    };
  }

  registerHook(name: string, callback: HookCallback): () => void {
    const hooks = this.hooks[name as HookName];
    if (!hooks) {
      throw Object.assign(new RangeError(`Unrecognized hook "${name}"`), { isAzureFunctionsSystemError: true });
    }
    hooks.push(callback);
    return () => {
      const index = hooks.indexOf(callback);
      if (index >= 0) hooks.splice(index, 1);
    };
  }

  /** Runs the hooks one after the other; the first that throws ends it. */
  async runHooks(name: HookName, context: unknown): Promise<void> {
    for (const callback of this.hooks[name]) await callback(context);
  }

  /** Sends one line to the host. Log hooks may change lines of the app, never those of the system. */
  log(
    line: { level: LogLevel | 'none'; logCategory: LogCategory; category: string; message: string },
    invocation?: { hookData: HookData; invocationContext: unknown },
  ): void {
    const seen = {
      level: line.level,
      message: line.message,
      category: line.logCategory,
      hookData: invocation?.hookData ?? {},
      appHookData: this.appHookData,
      invocationContext: invocation?.invocationContext,
    };
    try {
      for (const callback of this.hooks.log) callback(seen);
    } catch {
      // A hook that throws must not take the line with it.
    }
    const { level, message } = line.logCategory === 'user' ? seen : line;
    if (level === 'none') return;
    const entry = { level, category: line.category, message, ...currentInvocation.getStore() };
    void report({ kind: 'log', entry });
  }
}
