import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { packageApp } from '../../infra/package.ts';
import { anOrder, FAST_POLICY } from '../e2e/support/orders.ts';
import { project } from '../e2e/support/project.ts';
import { aStage } from '../e2e/support/stage.ts';
import { aTemporaryFolder, removeFolder } from '../helpers/temporary-folder.ts';

/**
 * Runs the package, as it is deployed, with these settings until an order whose provider recovers has succeeded, and one that cannot and one
 * whose provider stays down are dead-lettered; then stops it, which is when it sends what is left of its telemetry.
 */
export async function runTheThree(settings: Readonly<Record<string, string>>): Promise<void> {
  const app = await aTemporaryFolder('telemetry');
  await packageApp(project, app);
  // What the stand-ins are told by; the app reads neither.
  for (const file of ['local/entities.json', 'local.settings.json']) await cp(join(project, file), join(app, file));
  const stage = await aStage(app, { ...FAST_POLICY, ...settings });
  await stage.startHost();
  await stage.send(
    anOrder('A', [503, 503, 200]),
    { ...anOrder('B'), body: { orderId: 'order-B', amount: 25, currency: 'XXX' } },
    anOrder('C', [503]),
  );
  await stage.until('A', 'succeeded');
  await stage.until('B', 'dead-lettered');
  await stage.until('C', 'dead-lettered');
  await stage.stop();
  await removeFolder(app);
}
