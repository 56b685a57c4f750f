import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startAdminServer } from './broker/admin/start-admin-server.ts';
import { build, compile } from './build.ts';
import { printLog } from './host/print-log.ts';
import { readLocalSettings } from './host/settings.ts';
import { Changes, reloadOnChange } from './reload.ts';
import { startStack } from './stack.ts';
import { telemetrySettings, telemetryTarget } from './telemetry-target.ts';

/** The usual ports: those of the official emulator, of Azurite's tables, of local.settings.json, and of Core Tools. */
const USUAL_PORTS = { broker: 5672, admin: 5300, table: 10002, provider: 7080, http: 7071 };
const FREE_PORTS = { broker: 0, admin: 0, table: 0, provider: 0, http: 0 };
/** Who has saved a file waits for it; what is cut short is given back, and uses no attempt. */
const DRAIN_LIMIT_IN_MS = 1_000;

const project = join(import.meta.dirname, '..');

async function main(signal: AbortSignal): Promise<void> {
  const { values } = parseArgs({ options: { 'free-ports': { type: 'boolean', default: false } } });
  const ports = values['free-ports'] ? FREE_PORTS : USUAL_PORTS;
  // Before the first build: what is saved while that runs, or while all starts, is built next.
  const changes = new Changes(join(project, 'functions'), (line) => console.log(line));
  try {
    await run(ports, changes, signal);
  } finally {
    changes.close();
  }
}

async function run(ports: typeof USUAL_PORTS, changes: Changes, signal: AbortSignal): Promise<void> {
  await build(project, signal);
  const settings = telemetrySettings(process.env);
  const localSettings = await readLocalSettings(join(project, 'local.settings.json'));
  const stack = await startStack(
    { project, settings, ports, drainLimitInMs: DRAIN_LIMIT_IN_MS, onLog: printLog },
    signal,
  );
  const { namespace } = stack.broker;
  const admin = await startAdminServer({ namespace, port: ports.admin, tier: 'emulator' }).catch(async (error) => {
    await stack.stop();
    throw error;
  });
  stack.broker.serveHttpBy((socket) => admin.serve(socket));
  const { functions, httpPort } = stack.host;
  console.log(`
Service Bus       ${stack.broker.connectionString}
management API    http://127.0.0.1:${admin.port}
Table Storage     ${stack.azurite.connectionString}
payment provider  ${stack.provider.url}
functions         ${functions.join(', ')}${httpPort === undefined ? '' : ` (HTTP at http://127.0.0.1:${httpPort})`}
telemetry         ${telemetryTarget({ ...localSettings, ...settings })}; a delivery's report is a line with "event":"delivery.processed"

Rebuilt and restarted when a file in functions/ changes. Ctrl-C stops it all.
`);
  try {
    const compileIt = () => compile(project, signal);
    await reloadOnChange({ changes, compile: compileIt, stack, say: (line) => console.log(line) }, signal);
  } finally {
    await admin.stop();
    await stack.stop();
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
