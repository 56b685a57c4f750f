// The child process that holds the app: the counterpart of the real Functions worker for Node. It is told what to do
// over the IPC channel and lives no longer than that channel.
import { App } from './worker/app.ts';
import { installCoreModule } from './worker/core-module.ts';
import { invoke } from './worker/invoke.ts';
import { loadApp } from './worker/load-app.ts';
import { captureConsole, currentInvocation, report, reportUncaught } from './worker/report.ts';
import { toError } from './worker/to-error.ts';
import type { InvocationOutcome, InvocationRequest, ToWorker } from './worker-protocol.ts';

const app = new App();

process.once('disconnect', () => process.exit(1));
reportUncaught();
captureConsole();

process.on('message', (message: ToWorker) => {
  switch (message.kind) {
    case 'start':
      return void start(message.appDirectory, message.hostVersion);
    case 'invoke':
      return void run(message.request);
    case 'terminate':
      return void terminate();
  }
});

async function start(functionAppDirectory: string, hostVersion: string): Promise<void> {
  installCoreModule(app, hostVersion);
  try {
    await loadApp(functionAppDirectory);
    const context = { hookData: app.appLevelHookData, appHookData: app.appHookData, functionAppDirectory };
    await app.runHooks('appStart', context);
    const capabilities = (await app.programmingModel?.getCapabilities?.({})) ?? {};
    // It would answer over a server of its own, to which the real host forwards: here it would wait for that in vain.
    if (capabilities['HttpUri'])
      throw new Error('app.setup({ enableHttpStream: true }) is not served by the local host.');
    app.registrationIsOpen = false;
    const functions = [...app.functions.values()].map(({ metadata }) => metadata);
    // Bindings hold whatever the app put there; JSON is what the real protocol lets through.
    await report({ kind: 'started', functions: JSON.parse(JSON.stringify(functions)), capabilities });
  } catch (thrown) {
    await report({ kind: 'refused', message: toError(thrown).message });
    process.exit(1);
  }
}

async function run(request: InvocationRequest): Promise<void> {
  const { invocationId, functionId } = request;
  const functionName = app.functions.get(functionId)?.metadata.name ?? functionId;
  const outcome = await currentInvocation.run({ functionName, invocationId }, () => outcomeOf(request));
  await report({ kind: 'invoked', invocationId, outcome });
}

async function outcomeOf(request: InvocationRequest): Promise<InvocationOutcome> {
  try {
    return { kind: 'succeeded', response: await invoke(app, request) };
  } catch (thrown) {
    const { message, stack } = toError(thrown);
    return { kind: 'failed', error: { message, stack: stack ?? message } };
  }
}

async function terminate(): Promise<void> {
  try {
    await app.runHooks('appTerminate', { hookData: app.appLevelHookData, appHookData: app.appHookData });
  } catch (thrown) {
    app.log({
      level: 'error',
      logCategory: 'system',
      category: 'Worker',
      message: `An appTerminate hook failed: ${toError(thrown).message}`,
    });
  }
  await report({ kind: 'terminated' });
  process.exit(0);
}
