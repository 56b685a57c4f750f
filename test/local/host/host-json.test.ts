import { availableParallelism } from 'node:os';
import { describe, expect, test } from 'vitest';
import { parseHostJson, readHostJson } from '../../../local/host/host-json.ts';
import { fixtureApp } from './support.ts';

const parse = (root: unknown) => parseHostJson(root, 'host.json');

describe('host.json', () => {
  test('has the defaults of the 5.x extension [J1]', () => {
    expect(parse({ version: '2.0' })).toEqual({
      warnings: [],
      config: {
        functionTimeoutInMs: 1_800_000,
        httpRoutePrefix: 'api',
        logLevels: {},
        serviceBus: {
          prefetchCount: 0,
          autoCompleteMessages: true,
          maxAutoLockRenewalDurationInMs: 300_000,
          maxConcurrentCalls: 16 * availableParallelism(),
          maxMessageBatchSize: 1000,
          minMessageBatchSize: 1,
          maxBatchWaitTimeInMs: 30_000,
          maxConcurrentSessions: 8,
          maxConcurrentCallsPerSession: 1,
          sessionIdleTimeoutInMs: undefined,
        },
      },
    });
  });

  test('is read as it is written', () => {
    const serviceBus = {
      prefetchCount: 4,
      autoCompleteMessages: false,
      maxAutoLockRenewalDuration: '00:10:00',
      maxConcurrentCalls: 2,
      maxMessageBatchSize: 10,
      minMessageBatchSize: 5,
      maxBatchWaitTime: '00:00:01.5',
      maxConcurrentSessions: 3,
      maxConcurrentCallsPerSession: 2,
      sessionIdleTimeout: '00:00:05',
    };

    expect(
      parse({
        version: '2.0',
        functionTimeout: '-1',
        extensions: { http: { routePrefix: '' }, serviceBus },
        logging: { logLevel: { default: 'Warning', 'Function.take.User': 'none' } },
      }).config,
    ).toEqual({
      functionTimeoutInMs: undefined,
      httpRoutePrefix: '',
      logLevels: { default: 'warning', 'function.take.user': 'none' },
      serviceBus: {
        prefetchCount: 4,
        autoCompleteMessages: false,
        maxAutoLockRenewalDurationInMs: 600_000,
        maxConcurrentCalls: 2,
        maxMessageBatchSize: 10,
        minMessageBatchSize: 5,
        maxBatchWaitTimeInMs: 1_500,
        maxConcurrentSessions: 3,
        maxConcurrentCallsPerSession: 2,
        sessionIdleTimeoutInMs: 5_000,
      },
    });
  });

  test('warns of keys that change nothing: unknown, of an older extension, or without effect here [J2]', () => {
    const serviceBus = { messageHandlerOptions: {}, autoComplete: false, maxConcurentCalls: 1, clientRetryOptions: {} };

    expect(parse({ version: '2.0', extra: 1, retry: {}, serviceBus: {}, extensions: { serviceBus } }).warnings).toEqual(
      [
        'host.json: extra has no effect: the host knows no such key.',
        'host.json: retry has no effect: retry policies belong to functions, and mean nothing to a Service Bus trigger.',
        'host.json: serviceBus has no effect: it belongs under extensions since version 2.0.',
        'host.json: extensions.serviceBus.messageHandlerOptions has no effect: it is of an older extension; its fields stand directly in extensions.serviceBus now.',
        'host.json: extensions.serviceBus.autoComplete has no effect: it is of an older extension; it is autoCompleteMessages now.',
        'host.json: extensions.serviceBus.maxConcurentCalls has no effect: the extension knows no such key.',
        'host.json: extensions.serviceBus.clientRetryOptions has no effect on this local host.',
      ],
    );
  });

  test.each([
    [{ version: '1.0' }, 'host.json: version must be "2.0", got "1.0".'],
    [{ version: '2.0', functionTimeout: '5m' }, 'host.json: functionTimeout must be a time span "hh:mm:ss", got "5m".'],
    [{ version: '2.0', extensions: [] }, 'host.json: extensions must be an object, got [].'],
    [
      { version: '2.0', extensions: { serviceBus: { maxConcurrentCalls: 0 } } },
      'host.json: extensions.serviceBus.maxConcurrentCalls must be a whole number from 1 up, got 0.',
    ],
    [
      { version: '2.0', extensions: { serviceBus: { autoCompleteMessages: 'no' } } },
      'host.json: extensions.serviceBus.autoCompleteMessages must be true or false, got "no".',
    ],
    [
      { version: '2.0', logging: { logLevel: { Function: 'Verbose' } } },
      'host.json: logging.logLevel.Function must be one of Trace, Debug, Information, Warning, Error, Critical, None, got "Verbose".',
    ],
  ])('is refused with one line where it is wrong: %j', (root, message) => {
    expect(() => parse(root)).toThrow(new Error(message));
  });

  test('must be there', async () => {
    await expect(readHostJson(fixtureApp('nowhere'))).rejects.toThrow(
      /^Cannot read .*nowhere\/host\.json \(ENOENT\)\./,
    );
  });
});
