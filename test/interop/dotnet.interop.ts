import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { startAdminServer } from '../../local/broker/admin/start-admin-server.ts';
import { defaultRule } from '../../local/broker/model/filter/rule.ts';
import { defaultQueueSettings, type QueueSettings } from '../../local/broker/model/queue-settings.ts';
import { startBroker } from '../../local/broker/start-broker.ts';

const root = join(import.meta.dirname, '../..');
const project = join(import.meta.dirname, 'dotnet');
/** Git ignores it, and it outlives the run, so that only the first build is slow. */
const artifacts = join(root, 'node_modules/.cache/interop-dotnet');
const env = { ...process.env, DOTNET_CLI_TELEMETRY_OPTOUT: '1', DOTNET_NOLOGO: '1', MSBUILDDISABLENODEREUSE: '1' };
const run = promisify(execFile);

const sdk = await run('dotnet', ['--list-sdks']).then(
  ({ stdout }) => /^(1\d|[2-9]\d)\./m.test(stdout),
  () => false,
);
if (!sdk) process.stdout.write('Skipped: the .NET client was not tried, because no .NET SDK 10 is on PATH (dotnet).\n');

/** Entities by the step that uses them; each has one of its own. */
const QUEUES: Readonly<Record<string, Partial<QueueSettings>>> = {
  fields: {},
  batch: {},
  complete: {},
  abandon: {},
  'dead-letter': {},
  'count-out': {},
  defer: {},
  renew: {},
  'short-lock': { lockDurationInMs: 1000 },
  'receive-and-delete': {},
  processor: {},
  schedule: {},
  'send-later': {},
  cancel: {},
  duplicates: { duplicateDetectionWindowInMs: 60_000 },
  'session-named': { requiresSession: true },
  'session-next': { requiresSession: true },
  'session-prefetch': { requiresSession: true },
  'session-none': { requiresSession: true },
  'session-state': { requiresSession: true },
  'session-renew': { requiresSession: true },
  'session-held': { requiresSession: true },
  'session-missing': { requiresSession: true },
};
const TOPICS = ['topic-copies', 'topic-dead-letter', 'topic-sql', 'topic-correlation'];
const subscription = { queue: defaultQueueSettings, rules: [defaultRule] };
const topic = {
  defaultTimeToLiveInMs: defaultQueueSettings.defaultTimeToLiveInMs,
  duplicateDetectionWindowInMs: undefined,
  subscriptions: new Map([
    ['all', subscription],
    ['filtered', subscription],
  ]),
};

describe.skipIf(!sdk)('the .NET client, on a .NET SDK', () => {
  beforeAll(async () => {
    const options = ['--configuration', 'Release', '--artifacts-path', artifacts, '-nodeReuse:false'];
    await run('dotnet', ['build', ...options], { cwd: project, env }).catch((error: { stdout?: string }) => {
      throw new Error(`The .NET client did not build:\n${error.stdout}`, { cause: error });
    });
  });

  test('finds the broker as it knows Service Bus', async () => {
    const queues = new Map(
      Object.entries(QUEUES).map(([name, settings]) => [name, { ...defaultQueueSettings, ...settings }]),
    );
    const broker = await startBroker({ entities: { queues, topics: new Map(TOPICS.map((name) => [name, topic])) } });
    const admin = await startAdminServer({ namespace: broker.namespace, tier: 'emulator' });
    try {
      const program = join(artifacts, 'bin/interop/release/interop.dll');
      const adminString = broker.connectionString.replace(`:${broker.port};`, `:${admin.port};`);
      const strings = [broker.connectionString, adminString];
      const { stdout } = await run('dotnet', [program, ...strings], { env, timeout: 170_000 }).catch(
        (failed: { stdout: string }) => failed,
      );
      expect(stdout.trimEnd().split('\n')).toEqual(
        [
          'sends a message with all its fields',
          'sends a batch, received in its order',
          'completes a message for good',
          'abandons a message, which comes back changed and counted',
          'dead-letters with a reason and a description',
          'dead-letters what is abandoned too often',
          'defers a message and receives it by its number',
          'renews a lock',
          'reports a lock that was lost',
          'receives and deletes',
          'processes messages with a processor',
          'reports a queue that is not there',
          'schedules a message, which comes when it is due',
          'sends a message for a later time, as a redelivery does',
          'cancels a scheduled message',
          'drops the second of two messages of one id, scheduled or not',
          'accepts a session by its id and gets its messages in order',
          'accepts the next session that has messages',
          'prefetches from a session that it waited for',
          'reports that no session came in time',
          'keeps the state of a session',
          'renews the lock of a session',
          'refuses a session that another receiver holds',
          'refuses a message without a session',
          'copies a message of a topic to each subscription',
          'dead-letters in one subscription and leaves the other alone',
          'selects by a SQL rule that a client adds, and changes the copy by its action',
          'selects by a correlation rule',
          'makes a queue, uses it, changes and removes it',
          'makes a topic, a subscription and a rule, and counts what they got',
          'names an entity that is taken and one that is missing',
        ].map((name) => `ok ${name}`),
      );
    } finally {
      await admin.stop();
      await broker.stop();
    }
  });
});
