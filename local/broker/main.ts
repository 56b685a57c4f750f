import { parseArgs } from 'node:util';
import { startAdminServer } from './admin/start-admin-server.ts';
import { TIERS } from './config/tier.ts';
import { loadEntities } from './entities.ts';
import { startBroker } from './start-broker.ts';

const USAGE = `npm run broker -- [--config FILE] [--port N] [--tier ${TIERS.join('|')}] [--admin-port N [--admin-certificate FILE]] [--fault-port N]`;

/** Runs the broker alone until Ctrl-C. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      config: { type: 'string', default: 'local/entities.json' },
      port: { type: 'string', default: '5672' },
      'admin-port': { type: 'string' },
      'admin-certificate': { type: 'string' },
      'fault-port': { type: 'string' },
      tier: { type: 'string', default: 'emulator' },
    },
  });
  const tier = TIERS.find((candidate) => candidate === values.tier);
  if (tier === undefined)
    throw new Error(`--tier must be one of ${TIERS.join(', ')}, got ${values.tier}. Usage: ${USAGE}`);
  const port = portOf('port', values.port);
  const faultPort = values['fault-port'];
  const adminPort = values['admin-port'] === undefined ? undefined : portOf('admin-port', values['admin-port']);
  const broker = await startBroker({
    entities: await loadEntities(values.config, tier),
    port,
    ...(faultPort === undefined ? {} : { faultPort: portOf('fault-port', faultPort) }),
  });
  const admin =
    adminPort === undefined
      ? undefined
      : await startAdminServer({
          namespace: broker.namespace,
          port: adminPort,
          tier,
          certificateFile: values['admin-certificate'],
        }).catch(async (error) => {
          await broker.stop();
          throw error;
        });
  if (admin !== undefined) broker.serveHttpBy((socket) => admin.serve(socket));
  const stop = () => Promise.all([admin?.stop(), broker.stop()]);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
  process.stdout.write(`${broker.connectionString}\n`);
  if (admin !== undefined) process.stdout.write(`management: http://127.0.0.1:${admin.port}\n`);
  if (broker.faultPort !== undefined) process.stdout.write(`faults: http://127.0.0.1:${broker.faultPort}/faults\n`);
}

function portOf(option: string, text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new Error(`--${option} must be an integer from 0 to 65535, got ${text}. Usage: ${USAGE}`);
}

main().catch((error: Error) => {
  process.stderr.write(`broker: ${error.message}\n`);
  process.exitCode = 1;
});
