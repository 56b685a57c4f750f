import { afterEach, describe, expect, test } from 'vitest';
import { startWorkerProcess, type WorkerProcess } from '../../../local/host/worker-process.ts';
import type { InvocationOutcome, TypedData } from '../../../local/host/worker-protocol.ts';
import { aLog, aRequest, fixtureApp, isRunning } from './support.ts';

const log = aLog();
let started: WorkerProcess[] = [];

afterEach(async () => {
  await Promise.all(started.map((worker) => worker.terminate(5_000)));
  expect(started.filter(({ pid }) => isRunning(pid))).toEqual([]);
  started = [];
  log.entries.length = 0;
});

async function start(app: string, settings: Record<string, string> = {}): Promise<WorkerProcess> {
  const worker = await startWorkerProcess({ appDirectory: fixtureApp(app), settings, port: 7, onLog: log.onLog });
  started.push(worker);
  return worker;
}

function returned(outcome: InvocationOutcome): TypedData | null | undefined {
  return outcome.kind === 'succeeded' ? outcome.response.returnValue : { string: `failed: ${outcome.error.message}` };
}

describe('the seam of the worker', () => {
  test('reports the functions of every file that main matches, in the order of the files [W2, W4]', async () => {
    const worker = await start('seam');

    expect(worker.functions.map(({ functionId }) => functionId)).toEqual([
      'hooked',
      'steps',
      'thrown',
      'thrown-text',
      'forgiven',
      'late',
      'talk',
      'environment',
      'core',
      'mute-hang',
    ]);
    expect(worker.functions[0]).toEqual({
      functionId: 'hooked',
      name: 'hooked',
      bindings: {
        input: {
          type: 'manualTrigger',
          name: 'input',
          direction: 'in',
          properties: { supportsDeferredBinding: 'false' },
        },
      },
    });
  });

  test('loads CommonJS apps too', async () => {
    const worker = await start('commonjs');
    const [bindingName = ''] = Object.keys(worker.functions[0]?.bindings ?? {});

    const outcome = await worker.invoke({
      ...aRequest('greet'),
      inputData: [{ name: bindingName, data: { string: 'you' } }],
    });

    expect(returned(outcome)).toEqual({ string: 'hello you' });
  });

  test('answers require for @azure/functions-core, which is no package [W1]', async () => {
    const worker = await start('seam');

    const outcome = await worker.invoke(aRequest('core'));

    expect(JSON.parse(returned(outcome)?.json ?? '')).toEqual({
      names: [
        'Disposable',
        'getProgrammingModel',
        'hostVersion',
        'log',
        'registerFunction',
        'registerHook',
        'setProgrammingModel',
        'version',
      ],
      model: '@azure/functions',
      unknownHook: 'RangeError: Unrecognized hook "unknown"',
    });
  });

  test('honours what hooks change, and runs them around the function [W6]', async () => {
    const worker = await start('seam');

    const outcome = await worker.invoke(aRequest('hooked'));
    const steps = await worker.invoke(aRequest('steps'));

    expect(returned(outcome)).toEqual({ string: 'wrapped x added, seen by post' });
    expect(returned(steps)).toEqual({
      json: JSON.stringify(['pre', 'function', 'post after pre', 'pre', 'post after pre']),
    });
  });

  test('fails an invocation that throws, with what was thrown', async () => {
    const worker = await start('seam');

    const [error, text] = [await worker.invoke(aRequest('thrown')), await worker.invoke(aRequest('thrown-text'))];

    expect(error).toEqual({
      kind: 'failed',
      error: { message: 'no good', stack: expect.stringContaining('TypeError: no good\n    at ') },
    });
    expect(returned(text)).toEqual({ string: 'failed: just text' });
  });

  test('lets a hook after the invocation take the error away', async () => {
    const worker = await start('seam');

    expect((await worker.invoke(aRequest('forgiven'))).kind).toBe('succeeded');
  });

  test('closes the registration with the start [W3]', async () => {
    const worker = await start('seam');

    expect(returned(await worker.invoke(aRequest('late')))).toEqual({
      string: 'failed: A function can only be registered during app startup.',
    });
  });

  test('runs the appTerminate hooks with the data of appStart [W3, W8]', async () => {
    const worker = await start('seam');

    await worker.terminate(5_000);

    expect(log.messages()).toContain('terminated true hello');
  });

  test('ends at the limit an app that does not end by itself', async () => {
    const worker = await start('seam', { languageWorkers__node__arguments: '--require ./freeze-at-terminate.cjs' });

    await worker.terminate(100);

    expect(isRunning(worker.pid)).toBe(false);
    expect(await worker.ended).toBe('The worker process ended (SIGKILL).');
  });

  test('gives the app its settings and nothing of the environment around it [S3]', async () => {
    const worker = await start('seam', { OWN: 'setting' });

    const outcome = await worker.invoke({
      ...aRequest('environment'),
      triggerMetadata: { MessageId: { string: '123' } },
    });

    expect(JSON.parse(returned(outcome)?.json ?? '')).toEqual({
      settings: { own: 'setting', foreign: null },
      directory: fixtureApp('seam'),
      parameters: [
        ...['--host', '127.0.0.1', '--port', '7', '--grpcMaxMessageLength', '2147483647'],
        ...['--functions-uri', 'http://127.0.0.1:7/', '--functions-grpc-max-message-length', '2147483647'],
      ],
      context: {
        functionName: 'environment',
        triggerMetadata: { messageId: 123 },
        traceParent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      },
    });
  });
});

describe('what the app says', () => {
  test('arrives once, with its invocation, and log hooks have their word [C1]', async () => {
    const worker = await start('seam');
    const request = aRequest('talk');

    await worker.invoke(request);
    await worker.terminate(5_000);

    const run = { functionName: 'talk', invocationId: request.invocationId };
    expect(log.entries.filter(({ invocationId }) => invocationId === request.invocationId)).toEqual([
      { level: 'information', category: 'Function.talk.User', message: 'from the context', ...run },
      { level: 'warning', category: 'Function.talk.User', message: 'changed', ...run },
      { level: 'information', category: 'Host.Function.Console', message: 'from the console, 1', ...run },
      { level: 'error', category: 'Host.Function.Console', message: 'an error line', ...run },
    ]);
    expect(log.messages().filter((message) => message.includes('from the'))).toHaveLength(2);
  });

  test.each([
    ['throw-later', 'nobody catches this'],
    ['reject-later', 'nobody awaits this'],
  ])('says an uncaught error once, with its invocation, and ends (%s) [C1]', async (functionId, message) => {
    const worker = await start('crashing');
    const request = aRequest(functionId);

    const outcome = await worker.invoke(request);

    expect(returned(outcome)).toEqual({ string: 'failed: The worker process ended (exit code 1).' });
    expect(log.entries.filter((entry) => entry.message.includes(message))).toEqual([
      {
        level: 'error',
        category: 'Worker',
        message: expect.stringMatching(`^Worker uncaught exception: Error: ${message}\n    at `),
        functionName: functionId,
        invocationId: request.invocationId,
      },
    ]);
  });
});

describe('an app that cannot start', () => {
  test.each([
    [
      'empty',
      /^Worker was unable to load entry point "functions\/\*\.js": Found zero files matching the supplied pattern$/,
    ],
    ['broken', /^Worker was unable to load entry point "functions\/\*\.js": Cannot find module .*not-there\.js/],
    ['refusing', /^The settings are wrong\.\n- QUEUE: expected a name, got nothing$/],
    [
      'duplicate',
      /^Worker was unable to load entry point .*: A function with id "twice" has already been registered\./,
    ],
    ['streaming', /^app\.setup\(\{ enableHttpStream: true \}\) is not served by the local host\.$/],
    ['nowhere', /^Cannot start the worker process in .*nowhere: /],
  ])('is refused with its own words (%s) [W2, W3, W4]', async (app, message) => {
    await expect(start(app)).rejects.toThrow(message);
  });
});

test('is ended when it does not load within the limit', async () => {
  const options = { appDirectory: fixtureApp('stuck'), settings: {}, port: 7, onLog: log.onLog, startLimitInMs: 300 };

  await expect(startWorkerProcess(options)).rejects.toThrow(/^The app in .*stuck has not loaded within 0\.3 s\.$/);
});

test('fails everything in flight when the process is killed, and says why', async () => {
  const worker = await start('crashing');
  const inFlight = [worker.invoke(aRequest('hang')), worker.invoke(aRequest('hang'))];

  worker.kill('It took too long.');

  expect((await Promise.all(inFlight)).map(returned)).toEqual([
    { string: 'failed: It took too long.' },
    { string: 'failed: It took too long.' },
  ]);
  expect(returned(await worker.invoke(aRequest('pid')))).toEqual({ string: 'failed: It took too long.' });
});
