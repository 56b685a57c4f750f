import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from './build.ts';
import { startPaymentProvider } from './provider/payment-provider.ts';

// The app on Azure's own host (`func start`), the official emulator and Azurite, as `npm run emulator:up` starts them.

const project = join(import.meta.dirname, '..');
/** The emulator makes its entities first, which takes it a minute on a slow machine. */
const READY_LIMIT_IN_MS = 180_000;
const HEALTH = 'http://127.0.0.1:5300/health';
/** Where local.settings.json expects them. */
const TABLE_PORT = 10_002;
const PROVIDER_PORT = 7080;

async function isHealthy(): Promise<boolean> {
  const answer = await fetch(HEALTH, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
  await answer?.body?.cancel();
  return answer?.ok ?? false;
}

function isListening(port: number): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port, timeout: 2_000 });
  const ended = new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('timeout', () => resolve(false));
  });
  return ended.finally(() => socket.destroy());
}

/** @throws Error with one line of what has not come up */
async function ready(what: string, isReady: () => Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + READY_LIMIT_IN_MS;
  while (!(await isReady())) {
    if (performance.now() > giveUpAt)
      throw new Error(`${what}: not ready. Is Docker there, and "npm run emulator:up" done?`);
    await sleep(1_000);
  }
}

async function main(): Promise<number> {
  await ready(`the emulator at ${HEALTH}`, isHealthy);
  await ready(`Azurite's tables at port ${TABLE_PORT}`, () => isListening(TABLE_PORT));
  await build(project);
  const provider = await startPaymentProvider({ port: PROVIDER_PORT });
  try {
    return await func();
  } finally {
    await provider.stop();
  }
}

/** Azure Functions Core Tools on the built app, until it ends. */
async function func(): Promise<number> {
  const host: ChildProcess = spawn('func', ['start'], {
    cwd: project,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  const pass = (signal: NodeJS.Signals) => void host.kill(signal);
  process.on('SIGINT', pass).on('SIGTERM', pass);
  const [exitCode] = await once(host, 'exit').catch((error: Error) => {
    throw new Error(`cannot run func (${error.message}): install Azure Functions Core Tools 4`);
  });
  return exitCode ?? 1;
}

process.exitCode = await main().catch((error: Error) => {
  console.error(error.message);
  return 1;
});
