import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { LogEntry, LogLevel } from './log-entry.ts';
import type {
  FromWorker,
  FunctionMetadata,
  InvocationOutcome,
  InvocationRequest,
  ToWorker,
} from './worker-protocol.ts';

const HOST_VERSION = '4.0.0';
/** What the real host passes: int.MaxValue. */
const MAX_MESSAGE_LENGTH_IN_BYTES = 2_147_483_647;
/** Longer than any sound app loads, as on the real host. */
const START_LIMIT_IN_MS = 60_000;
/** Of this process's environment only what a program needs to run at all; the rest comes from the settings. */
const INHERITED_VARIABLES = ['PATH', 'HOME', 'TMPDIR', 'TEMP', 'TMP', 'SystemRoot', 'LANG', 'TZ'];

export interface WorkerOptions {
  readonly appDirectory: string;
  /** The app's settings: the environment of the worker. `languageWorkers__node__arguments` goes to Node itself. */
  readonly settings: Readonly<Record<string, string>>;
  /** Port on 127.0.0.1 where the host serves the worker. */
  readonly port: number;
  readonly onLog: (entry: LogEntry) => void;
  /** How long the app may take to load and to run its appStart hooks, in ms. Default 60 000. */
  readonly startLimitInMs?: number;
}

/** One worker process with the app loaded. */
export interface WorkerProcess {
  readonly pid: number;
  /** Whether it can still be told anything. */
  readonly alive: boolean;
  readonly functions: readonly FunctionMetadata[];
  /** Never rejects: an invocation that is cut short by the end of the process has failed. */
  invoke(request: InvocationRequest): Promise<InvocationOutcome>;
  /** Runs the appTerminate hooks and ends the process; kills it when that takes longer than the limit. */
  terminate(limitInMs: number): Promise<void>;
  /** Ends the process at once; what it is running fails with this reason. */
  kill(reason: string): void;
  /** Resolves with one line, however the process ends. */
  readonly ended: Promise<string>;
}

/**
 * Starts a worker and waits until it has loaded the app and run its appStart hooks.
 *
 * @throws Error with the app's own message when it refuses to start; the process has ended then.
 */
export async function startWorkerProcess(options: WorkerOptions): Promise<WorkerProcess> {
  const child = spawnWorker(options);
  const invocations = new Map<string, (outcome: InvocationOutcome) => void>();
  let killReason: string | undefined;
  let terminating = false;

  const ended = new Promise<string>((resolve) => {
    // `close` and not `exit`: the last words of a process that crashes are still in its pipes at `exit`.
    child.once('close', (code, signal) => {
      const reason = killReason ?? `The worker process ended (${signal ?? `exit code ${code}`}).`;
      for (const fail of invocations.values()) fail({ kind: 'failed', error: { message: reason, stack: reason } });
      invocations.clear();
      resolve(reason);
    });
  });

  child.on('message', (message: FromWorker) => {
    if (message.kind === 'log') options.onLog(message.entry);
    if (message.kind !== 'invoked') return;
    invocations.get(message.invocationId)?.(message.outcome);
    invocations.delete(message.invocationId);
  });
  forwardLines(child.stdout, options.onLog, () => 'information');
  forwardLines(child.stderr, options.onLog, (line) => (/warn/i.test(line) ? 'warning' : 'error'));

  const functions = await started(child, ended, options);
  return {
    pid: child.pid as number,
    get alive() {
      return child.connected && killReason === undefined;
    },
    functions,
    ended,
    invoke: (request) =>
      new Promise((resolve) => {
        if (!child.connected) {
          const message = killReason ?? 'The worker process has ended.';
          return resolve({ kind: 'failed', error: { message, stack: message } });
        }
        invocations.set(request.invocationId, resolve);
        send(child, { kind: 'invoke', request });
      }),
    terminate: async (limitInMs) => {
      if (terminating) return void (await ended);
      terminating = true;
      send(child, { kind: 'terminate' });
      const limit = setTimeout(() => child.kill('SIGKILL'), limitInMs);
      await ended;
      clearTimeout(limit);
    },
    kill: (reason) => {
      killReason ??= reason;
      child.kill('SIGKILL');
    },
  };
}

function spawnWorker({ appDirectory, settings, port }: WorkerOptions): ChildProcess {
  const inherited = INHERITED_VARIABLES.flatMap((name) =>
    process.env[name] === undefined ? [] : [[name, process.env[name]]],
  );
  const nodeArguments = settings['languageWorkers__node__arguments']?.split(' ').filter(Boolean) ?? [];
  const workerId = randomUUID();
  const requestId = randomUUID();
  const parameters = {
    host: '127.0.0.1',
    port,
    workerId,
    requestId,
    grpcMaxMessageLength: MAX_MESSAGE_LENGTH_IN_BYTES,
    'functions-uri': `http://127.0.0.1:${port}/`,
    'functions-worker-id': workerId,
    'functions-request-id': requestId,
    'functions-grpc-max-message-length': MAX_MESSAGE_LENGTH_IN_BYTES,
  };
  const program = fileURLToPath(new URL('./worker.ts', import.meta.url));
  const workerArguments = Object.entries(parameters).flatMap(([name, value]) => [`--${name}`, String(value)]);
  return spawn(process.execPath, [...nodeArguments, program, ...workerArguments], {
    cwd: appDirectory,
    env: { ...Object.fromEntries(inherited), ...settings },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    serialization: 'advanced',
    // Ctrl-C in a terminal goes to the whole group: the worker must live until the host has drained it.
    detached: true,
    windowsHide: true,
  });
}

async function started(
  child: ChildProcess,
  ended: Promise<string>,
  { appDirectory, startLimitInMs = START_LIMIT_IN_MS }: WorkerOptions,
): Promise<readonly FunctionMetadata[]> {
  const answer = new Promise<FromWorker>((resolve) => {
    const listen = (message: FromWorker) => {
      if (message.kind !== 'started' && message.kind !== 'refused') return;
      child.off('message', listen);
      resolve(message);
    };
    child.on('message', listen);
  });
  const failed = new Promise<never>((_, reject) => {
    child.once('error', (error) =>
      reject(new Error(`Cannot start the worker process in ${appDirectory}: ${error.message}`)),
    );
  });
  send(child, { kind: 'start', appDirectory, hostVersion: HOST_VERSION });
  const endedEarly = ended.then((reason) => `${reason} It had not loaded the app in ${appDirectory} yet.`);
  const limit = Promise.withResolvers<string>();
  const timer = setTimeout(
    () => limit.resolve(`The app in ${appDirectory} has not loaded within ${startLimitInMs / 1000} s.`),
    startLimitInMs,
  );
  const refused = Promise.race([endedEarly, limit.promise]).then((why) => ({ kind: 'refused' as const, message: why }));
  const message = await Promise.race([answer, failed, refused]).finally(() => clearTimeout(timer));
  if (message.kind === 'started') return message.functions;
  child.kill('SIGKILL');
  await ended;
  throw new Error(message.kind === 'refused' ? message.message : 'The worker did not answer.');
}

/** A message to a process that has just ended is lost, and `ended` says so: the error of the channel adds nothing. */
function send(child: ChildProcess, message: ToWorker): void {
  if (child.connected) child.send(message, () => undefined);
}

function forwardLines(
  stream: Readable | null,
  onLog: (entry: LogEntry) => void,
  level: (line: string) => LogLevel,
): void {
  if (!stream) return;
  createInterface({ input: stream }).on('line', (line) => {
    if (line !== '') onLog({ level: level(line), category: 'Host.Function.Console', message: line });
  });
}
