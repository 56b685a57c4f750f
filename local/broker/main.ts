import { parseArgs } from 'node:util';
import { TIERS } from './config/tier.ts';
import { loadEntities } from './entities.ts';
import { startBroker } from './start-broker.ts';

const USAGE = 'npm run broker -- [--config FILE] [--port N] [--tier emulator|azure] [--fault-port N]';

/** Runs the broker alone until Ctrl-C. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      config: { type: 'string', default: 'local/entities.json' },
      port: { type: 'string', default: '5672' },
      'fault-port': { type: 'string' },
      tier: { type: 'string', default: 'emulator' },
    },
  });
  const tier = TIERS.find((candidate) => candidate === values.tier);
  if (tier === undefined) throw new Error(`--tier must be ${TIERS.join(' or ')}, got ${values.tier}. Usage: ${USAGE}`);
  const port = portOf('port', values.port);
  const faultPort = values['fault-port'];
  const broker = await startBroker({
    entities: await loadEntities(values.config, tier),
    port,
    ...(faultPort === undefined ? {} : { faultPort: portOf('fault-port', faultPort) }),
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => broker.stop());
  process.stdout.write(`${broker.connectionString}\n`);
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
