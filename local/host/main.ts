import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { printLog } from './print-log.ts';
import { readLocalSettings } from './settings.ts';
import { startHost } from './start-host.ts';

const USAGE = 'node local/host/main.ts [--app DIRECTORY] [--settings FILE]';

/**
 * Runs the host alone, until SIGINT or SIGTERM, then drains it. Settings come from the file, and from the environment
 * where it names the same ones.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { app: { type: 'string', default: '.' }, settings: { type: 'string' } } });
  const appDirectory = resolve(values.app);
  const file = await readLocalSettings(values.settings ?? join(appDirectory, 'local.settings.json'));
  const settings = Object.fromEntries(Object.entries(file).map(([name, value]) => [name, process.env[name] ?? value]));

  const stopping = new Promise<void>((stop) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop());
  });
  const host = await startHost({ appDirectory, settings, onLog: printLog });
  process.stdout.write(`Host started with ${host.functions.join(', ') || 'no functions'}.\n`);
  await stopping;
  await host.stop();
}

main().catch((error: Error) => {
  process.stderr.write(`host: ${error.message}\nUsage: ${USAGE}\n`);
  process.exitCode = 1;
});
