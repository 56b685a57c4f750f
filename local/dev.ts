import { watch } from 'node:fs';
import { join } from 'node:path';
import { startAdminServer } from './broker/admin/start-admin-server.ts';
import { build } from './build.ts';
import { printLog } from './host/print-log.ts';
import { startStack } from './stack.ts';

/** The usual ports: those of the official emulator, of Azurite's tables, and of local.settings.json. */
const PORTS = { broker: 5672, admin: 5300, table: 10002, provider: 7080 };
/** Editors save in several steps; one build is enough for them. */
const QUIET_IN_MS = 200;

const project = join(import.meta.dirname, '..');

async function main(signal: AbortSignal): Promise<void> {
  await build(project, signal);
  const stack = await startStack({ project, ports: PORTS, onLog: printLog }, signal);
  const { namespace } = stack.broker;
  const admin = await startAdminServer({ namespace, port: PORTS.admin, tier: 'emulator' }).catch(async (error) => {
    await stack.stop();
    throw error;
  });
  console.log(`
Service Bus       ${stack.broker.connectionString}
management API    http://127.0.0.1:${admin.port}
Table Storage     ${stack.azurite.connectionString}
payment provider  ${stack.provider.url}
functions         ${stack.host.functions.join(', ')}
telemetry         this log; a delivery's report is a line with "event":"delivery.processed"

Rebuilt and restarted when a file in functions/ changes. Ctrl-C stops it all.
`);
  try {
    await rebuildOnChange(() => stack.restartHost(), signal);
  } finally {
    await admin.stop();
    await stack.stop();
  }
}

/** Rebuilds after each change, one at a time, until the signal fires. What does not compile leaves the old app running. */
async function rebuildOnChange(restart: () => Promise<void>, signal: AbortSignal): Promise<void> {
  let changed = Promise.withResolvers<void>();
  const watcher = watch(join(project, 'functions'), { recursive: true }, () => changed.resolve());
  signal.addEventListener('abort', () => changed.resolve(), { once: true });
  try {
    for (;;) {
      await changed.promise;
      await new Promise((resolve) => setTimeout(resolve, QUIET_IN_MS));
      if (signal.aborted) return;
      changed = Promise.withResolvers();
      try {
        await build(project, signal);
        await restart();
        console.log('rebuilt and restarted');
      } catch (error) {
        console.error(error instanceof Error ? error.message : String(error));
      }
    }
  } finally {
    watcher.close();
  }
}

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopping.abort());
try {
  await main(stopping.signal);
} catch (error) {
  if (!stopping.signal.aborted) {
    console.error(`npm run dev: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}
