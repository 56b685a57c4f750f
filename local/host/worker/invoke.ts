import type { LogLevel } from '../log-entry.ts';
import type { InvocationRequest, InvocationResponse } from '../worker-protocol.ts';
import type { App, CoreInvocationContext, HookData, LogCategory, RegisteredFunction } from './app.ts';
import { toError } from './to-error.ts';

/**
 * Runs one invocation in the order of the real worker: arguments, hooks before, the function, hooks after, response.
 * What hooks put into `inputs`, `functionCallback`, `result` and `error` counts.
 *
 * @throws what the function or a hook threw, as an `Error`.
 */
export async function invoke(app: App, request: InvocationRequest): Promise<InvocationResponse> {
  const registered = app.functions.get(request.functionId);
  if (!registered) throw new Error(`Function code for '${request.functionId}' is not loaded and cannot be invoked.`);
  if (!app.programmingModel) throw new Error('The app has set no programming model: does it import @azure/functions?');

  const scope = { hookData: {} as HookData, invocationContext: undefined as unknown };
  const core = coreContext(app, request, registered, scope);
  const model = await app.programmingModel.getInvocationModel(core);
  const { context, inputs } = await model.getArguments();
  scope.invocationContext = context;
  const shared = { hookData: scope.hookData, appHookData: app.appHookData, invocationContext: context };

  const before = { ...shared, inputs, functionCallback: registered.callback };
  await inState(core, 'preInvocationHooks', () => app.runHooks('preInvocation', before));

  const after = { ...shared, inputs: before.inputs, result: null as unknown, error: null as unknown };
  await inState(core, 'invocation', async () => {
    try {
      after.result = await model.invokeFunction(context, before.inputs, before.functionCallback);
    } catch (thrown) {
      after.error = thrown ?? toError(thrown);
    }
  });
  await inState(core, 'postInvocationHooks', () => app.runHooks('postInvocation', after));

  if (after.error !== null && after.error !== undefined) throw toError(after.error);
  return model.getResponse(context, after.result);
}

function coreContext(
  app: App,
  request: InvocationRequest,
  { metadata }: RegisteredFunction,
  scope: { hookData: HookData; invocationContext: unknown },
): CoreInvocationContext {
  return {
    invocationId: request.invocationId,
    request,
    metadata,
    state: undefined,
    log: (level: LogLevel | 'none', logCategory: LogCategory, message: string) => {
      const category = `Function.${metadata.name}${logCategory === 'user' ? '.User' : ''}`;
      app.log({ level, logCategory, category, message }, scope);
    },
  };
}

async function inState<T>(
  core: CoreInvocationContext,
  state: NonNullable<CoreInvocationContext['state']>,
  act: () => Promise<T>,
): Promise<T> {
  core.state = state;
  try {
    return await act();
  } finally {
    core.state = undefined;
  }
}
