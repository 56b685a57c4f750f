import { afterEach, describe, expect, test } from 'vitest';
import { isLogged } from '../../../local/host/log-levels.ts';
import { type Host, startHost } from '../../../local/host/start-host.ts';
import { takeStock } from '../../helpers/leftovers.ts';
import { aLog, fixtureApp } from './support.ts';

describe('log levels', () => {
  const levels = {
    default: 'warning',
    function: 'error',
    'function.take': 'debug',
    'function.take.user': 'none',
    host: 'information',
  } as const;

  test.each([
    ['Worker', 'warning', true],
    ['Worker', 'information', false],
    ['Function.other', 'error', true],
    ['Function.other.User', 'warning', false],
    ['Function.take', 'debug', true],
    ['Function.take', 'trace', false],
    ['Function.take.User', 'critical', false],
    ['Host.Startup', 'information', true],
  ] as const)('of the beginnings of a category the longest decides: %s, %s: %s', (category, level, expected) => {
    expect(isLogged({ category, level }, levels)).toBe(expected);
  });

  test('are information where nothing is said', () => {
    expect(isLogged({ category: 'Function.take', level: 'information' }, {})).toBe(true);
    expect(isLogged({ category: 'Function.take', level: 'debug' }, {})).toBe(false);
  });
});

describe('the log of a host', () => {
  const nothingIsLeft = takeStock();
  let host: Host;

  afterEach(async () => {
    await host.stop();
    await nothingIsLeft();
  });

  test('holds what logging.logLevel lets through, of the host and of the app', async () => {
    const log = aLog();
    const settings = {
      AzureFunctionsJobHost__logging__logLevel__default: 'None',
      'AzureFunctionsJobHost__logging__logLevel__Function.nothing': 'Information',
    };
    host = await startHost({ appDirectory: fixtureApp('web'), settings, onLog: log.onLog });

    for (const path of ['failing', 'nothing']) await fetch(`http://127.0.0.1:${host.httpPort}/api/${path}`);

    expect(log.entries.map(({ category }) => category)).toEqual(['Function.nothing', 'Function.nothing']);
  });
});
