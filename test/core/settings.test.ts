import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DEFAULT_POLICY } from '../../functions/core/rules/policy.ts';
import {
  type Environment,
  policySettingName,
  readHostLimits,
  readPolicy,
  readRetentionInMs,
  resolveReferences,
  unknownPolicySettings,
} from '../../functions/core/settings.ts';

const HOST = { functionTimeoutInMs: 420_000, maxAutoLockRenewalInMs: 450_000, batch: false, sessions: false };
const DAY_IN_MS = 86_400_000;

const read = (environment: Environment, own = {}, host = {}) => {
  const problems: string[] = [];
  const { policy, limits } = readPolicy('order-placed', own, environment, { ...HOST, ...host }, problems);
  return { policy, limits, problems };
};

describe('the policy of an event', () => {
  test('is the default where neither the event nor a setting says otherwise', () => {
    expect(read({})).toEqual({
      policy: DEFAULT_POLICY,
      limits: { functionTimeoutInMs: 420_000, maxAutoLockRenewalInMs: 450_000 },
      problems: [],
    });
  });

  test('is its own, and a setting beats that: numbers, lists and words', () => {
    const { policy, problems } = read(
      {
        RETRY__ORDER_PLACED__ATTEMPTS: '7',
        RETRY__ORDER_PLACED__MULTIPLIER: '1.5',
        RETRY__ORDER_PLACED__CURVE: 'list',
        RETRY__ORDER_PLACED__DELAYS_IN_MS: '1000, 5000,60000',
        RETRY__ORDER_PLACED__TRY_DELAYS_IN_MS: '',
      },
      { attempts: 3, capInMs: 90_000 },
    );
    expect(problems).toEqual([]);
    expect(policy).toEqual({
      ...DEFAULT_POLICY,
      attempts: 7,
      multiplier: 1.5,
      curve: 'list',
      delaysInMs: [1_000, 5_000, 60_000],
      tryDelaysInMs: [],
      capInMs: 90_000,
    });
  });

  test('names every problem at once, with the setting, what was expected and what it got', () => {
    const { problems } = read(
      {
        RETRY__ORDER_PLACED__ATTEMPTS: 'many',
        RETRY__ORDER_PLACED__JITTER: 'some',
        RETRY__ORDER_PLACED__CAP_IN_MS: '10',
        RETRY__ORDER_PLACED__DELAYS_IN_MS: '1000,x',
      },
      { tries: 0 },
    );
    expect(problems).toEqual([
      'RETRY__ORDER_PLACED__ATTEMPTS: Invalid input: expected number, received string; got "many"',
      'RETRY__ORDER_PLACED__CAP_IN_MS: Too small: expected number to be >=1000; got "10"',
      'RETRY__ORDER_PLACED__DELAYS_IN_MS: 1: Invalid input: expected number, received string; got "1000,x"',
      'RETRY__ORDER_PLACED__JITTER: Invalid option: expected one of "none"|"full"|"equal"|"decorrelated"; got "some"',
      'policy of order-placed, tries: Too small: expected number to be >=1; got 0',
    ]);
  });

  test.each(['', '1e3', '0x10', ' ', '1.5', '-1', '1001', 'NaN', 'Infinity'])(
    'refuses %j as a number of attempts',
    (text) => {
      expect(read({ RETRY__ORDER_PLACED__ATTEMPTS: text }).problems).toHaveLength(1);
    },
  );

  test('may not contradict itself', () => {
    expect(read({}, { maxDeliveryCount: 4, outageInMs: 0 }).problems).toEqual([
      'policy of order-placed: maxDeliveryCount 4 must be at least crashLimit + 2 (5), or the broker dead-letters without a reason',
    ]);
  });

  test('in a batch must fit in the lock that nobody renews', () => {
    const { limits, problems } = read({}, { handlerTimeoutInMs: 56_000 }, { batch: true });
    expect(limits.maxAutoLockRenewalInMs).toBe(60_000);
    expect(problems).toEqual([
      expect.stringContaining('handlerTimeoutInMs 56000 must be at most 55000'),
      expect.stringContaining('outageInMs 3600000 must be at most 495000'),
    ]);
  });

  // Field case K4.
  test('of a session queue must say that order does not matter', () => {
    expect(read({}, {}, { sessions: true }).problems).toEqual([expect.stringContaining("expected ordering 'none'")]);
    expect(read({}, { ordering: 'none' }, { sessions: true }).problems).toEqual([]);
  });
});

test('a setting that names no event or no field is a problem: it would change nothing in silence', () => {
  const environment = {
    RETRY__ORDER_PLACED__ATTEMPTS: '3',
    RETRY__ORDER_PLACED__ATEMPTS: '3',
    RETRY__ORDER_PLACE__ATTEMPTS: '3',
    RETRY_ORDER_PLACED_ATTEMPTS: '3',
  };
  expect(unknownPolicySettings(['order-placed'], environment)).toEqual([
    'RETRY__ORDER_PLACED__ATEMPTS: no such setting; expected RETRY__<EVENT>__<FIELD> with an event of order-placed',
    'RETRY__ORDER_PLACE__ATTEMPTS: no such setting; expected RETRY__<EVENT>__<FIELD> with an event of order-placed',
  ]);
  expect(policySettingName('order-placed', 'baseDelayInMs')).toBe('RETRY__ORDER_PLACED__BASE_DELAY_IN_MS');
});

describe('the limits of the host', () => {
  test('are those of host.json, with the function ending before its lock', () => {
    const problems: string[] = [];
    const hostJson = JSON.parse(readFileSync(join(import.meta.dirname, '..', '..', 'host.json'), 'utf8'));

    const limits = readHostLimits({}, problems);

    const asSettings = {
      AzureFunctionsJobHost__functionTimeout: hostJson.functionTimeout,
      AzureFunctionsJobHost__extensions__serviceBus__maxAutoLockRenewalDuration:
        hostJson.extensions.serviceBus.maxAutoLockRenewalDuration,
    };
    expect(limits).toEqual(readHostLimits(asSettings, problems));
    expect(limits.functionTimeoutInMs).toBeLessThan(limits.maxAutoLockRenewalInMs);
    expect(problems).toEqual([]);
  });

  test('follow the settings by which the platform overrides host.json', () => {
    const environment = {
      AzureFunctionsJobHost__functionTimeout: '1.00:10:30',
      AzureFunctionsJobHost__extensions__serviceBus__maxAutoLockRenewalDuration: '00:00:07',
    };
    expect(readHostLimits(environment, [])).toEqual({
      functionTimeoutInMs: DAY_IN_MS + 630_000,
      maxAutoLockRenewalInMs: 7_000,
    });
  });

  test('must be time spans', () => {
    const problems: string[] = [];
    readHostLimits({ AzureFunctionsJobHost__functionTimeout: '5 minutes' }, problems);
    expect(problems).toEqual([
      'AzureFunctionsJobHost__functionTimeout: expected a time span hh:mm:ss, got "5 minutes"',
    ]);
  });
});

describe('a reference to a setting', () => {
  test('is replaced by its value', () => {
    expect(resolveReferences('%PREFIX%-orders', { PREFIX: 'eu' }, [])).toBe('eu-orders');
  });

  test('is a problem where there is none', () => {
    const problems: string[] = [];
    resolveReferences('%PREFIX%-orders', {}, problems);
    expect(problems).toEqual(['PREFIX: expected a value, as %PREFIX% is used in "%PREFIX%-orders"; got none']);
  });
});

describe('what the ledger remembers', () => {
  const retention = (environment: Environment, longestWindowInMs = DAY_IN_MS) => {
    const problems: string[] = [];
    return { retentionInMs: readRetentionInMs(environment, longestWindowInMs, problems), problems };
  };

  test('is 30 days unless set', () => {
    expect(retention({})).toEqual({ retentionInMs: 30 * DAY_IN_MS, problems: [] });
    expect(retention({ LEDGER_RETENTION_IN_DAYS: '90' })).toEqual({ retentionInMs: 90 * DAY_IN_MS, problems: [] });
  });

  test('must outlast the longest retry window and the replay horizon', () => {
    const sentence = 'the longest retry window and REPLAY_HORIZON_IN_DAYS together';
    expect(retention({ LEDGER_RETENTION_IN_DAYS: '15' }).problems).toEqual([
      `LEDGER_RETENTION_IN_DAYS: expected more than 15.00, ${sentence}; got 15`,
    ]);
    expect(retention({ LEDGER_RETENTION_IN_DAYS: '15.01' }).problems).toEqual([]);
    expect(retention({ REPLAY_HORIZON_IN_DAYS: '60' }).problems).toEqual([
      `LEDGER_RETENTION_IN_DAYS: expected more than 61.00, ${sentence}; got 30`,
    ]);
  });

  test.each(['0', '-1', 'ever', ''])('refuses %j as days', (text) => {
    expect(retention({ LEDGER_RETENTION_IN_DAYS: text }).problems).toEqual([
      `LEDGER_RETENTION_IN_DAYS: expected days, more than 0 and up to 3650; got ${JSON.stringify(text)}`,
    ]);
  });
});
