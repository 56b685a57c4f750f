import { afterEach, describe, expect, test } from 'vitest';
import { type Host, startHost } from '../../../local/host/start-host.ts';
import { takeStock } from '../../helpers/leftovers.ts';
import { aLog, fixtureApp } from './support.ts';

const log = aLog();
const nothingIsLeft = takeStock();
let host: Host | undefined;

afterEach(async () => {
  await host?.stop();
  host = undefined;
  await nothingIsLeft();
  log.entries.length = 0;
});

async function start(app: string, settings: Record<string, string> = {}): Promise<Host> {
  host = await startHost({ appDirectory: fixtureApp(app), settings, onLog: log.onLog });
  return host;
}

describe('the host', () => {
  test('names the functions of the app', async () => {
    const { functions } = await start('commonjs');

    expect(functions).toEqual(['greet']);
  });

  test('stops twice without complaint', async () => {
    const { stop } = await start('seam');

    await Promise.all([stop(), stop()]);

    expect(log.messages().filter((message) => message.startsWith('terminated'))).toEqual(['terminated true hello']);
  });

  test.each([
    ['refusing', {}, /^The settings are wrong\.\n- QUEUE/],
    ['nowhere', {}, /^Cannot read .*nowhere\/host\.json \(ENOENT\)/],
    ['queue', {}, /^The trigger of function "take", queueName, refers to %QUEUE%, but there is no setting QUEUE\./],
    [
      'queue',
      { QUEUE: 'q' },
      /^The trigger of function "take" uses the connection "ServiceBus", but there is no setting/,
    ],
  ])('refuses to start %s with %j', async (app, settings, message) => {
    await expect(start(app, settings)).rejects.toThrow(message);
  });
});
