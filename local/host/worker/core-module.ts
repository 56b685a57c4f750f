import Module from 'node:module';
import type { LogLevel } from '../log-entry.ts';
import type { App, FunctionCallback, HookCallback, LogCategory, ProgrammingModel } from './app.ts';

/** Of the worker that these facts were read in; apps only log it. */
const WORKER_VERSION = '3.13.0';

class Disposable {
  #dispose: (() => unknown) | undefined;

  static from(...disposables: { dispose(): unknown }[]): Disposable {
    return new Disposable(() => {
      for (const disposable of disposables) disposable.dispose();
    });
  }

  constructor(dispose: () => unknown) {
    this.#dispose = dispose;
  }

  dispose(): unknown {
    const dispose = this.#dispose;
    this.#dispose = undefined;
    return dispose?.();
  }
}

/**
 * Makes `require('@azure/functions-core')` answer with this worker. It is no package: the real worker patches the same
 * method, and CommonJS modules keep reaching it when an ES module imports them.
 */
export function installCoreModule(app: App, hostVersion: string): void {
  const core = {
    version: WORKER_VERSION,
    hostVersion,
    Disposable,
    setProgrammingModel: (model: ProgrammingModel) => {
      app.programmingModel = model;
    },
    getProgrammingModel: () => app.programmingModel,
    registerFunction: (metadata: Parameters<App['registerFunction']>[0], callback: FunctionCallback) =>
      new Disposable(app.registerFunction(metadata, callback)),
    registerHook: (name: string, callback: HookCallback) => new Disposable(app.registerHook(name, callback)),
    log: (level: LogLevel | 'none', logCategory: LogCategory, message: string) =>
      app.log({ level, logCategory, category: logCategory === 'user' ? 'Worker.User' : 'Worker', message }),
  };
  const require = Module.prototype.require;
  Module.prototype.require = function (this: Module, id: string) {
    return id === '@azure/functions-core' ? core : Reflect.apply(require, this, [id]);
  } as typeof require;
}
