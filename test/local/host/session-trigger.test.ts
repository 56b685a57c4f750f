import type { ServiceBusMessage } from '@azure/service-bus';
import { status } from '@grpc/grpc-js';
import { afterEach, describe, expect, test } from 'vitest';
import { aQueueStage, type QueueStage } from './queue-stage.ts';

let stage: QueueStage;

afterEach(() => stage.stop());

const serviceBus = (values: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [`AzureFunctionsJobHost__extensions__serviceBus__${name}`, value]),
  );

/** A message whose id begins with the session's. */
const aMessage = (messageId: string, steps: unknown): ServiceBusMessage => ({
  messageId,
  sessionId: messageId.slice(0, 1),
  body: Buffer.from(JSON.stringify(steps)),
});

async function begin(
  waiting: readonly ServiceBusMessage[],
  options: { host?: Record<string, string>; lockDurationInMs?: number; app?: string; drainLimitInMs?: number } = {},
): Promise<void> {
  const { host, lockDurationInMs = 60_000, ...more } = options;
  stage = await aQueueStage({
    ...more,
    waiting,
    queue: { requiresSession: true, lockDurationInMs },
    settings: { SESSIONS: 'true', ...serviceBus({ sessionIdleTimeout: '00:00:00.2', ...host }) },
  });
}

const taken = () => stage.told().flatMap(({ id, taken: count }) => (count ? [`${id}/${count}`] : []));
const send = (messageId: string, steps: unknown) => stage.sendRaw(aMessage(messageId, steps));

describe('sessions', () => {
  test('as many as maxConcurrentSessions run at once, each message by message in its order [E1]', async () => {
    await begin(
      [
        aMessage('a1', [['wait', 'b has begun'], ['complete']]),
        aMessage('a2', [['complete']]),
        aMessage('b1', [['open', 'b has begun'], ['wait', 'a is done'], ['complete']]),
        aMessage('c1', [['complete']]),
      ],
      { host: { maxConcurrentSessions: '2' } },
    );
    await stage.until('a2', { did: 'complete' });
    await stage.until('c1', { did: 'complete' });
    await send('c2', [['open', 'a is done'], ['complete']]);
    await stage.quiet();

    // The third session came when the first had become idle; the second ran all the time.
    expect(taken().filter((id) => id.startsWith('a'))).toEqual(['a1/1', 'a2/1']);
    expect(taken().indexOf('c1/1')).toBeGreaterThan(taken().indexOf('a2/1'));
  });

  test('several messages of one session run at once where maxConcurrentCallsPerSession says so [E1]', async () => {
    await begin(
      [aMessage('a1', [['wait', 'second'], ['complete']]), aMessage('a2', [['open', 'second'], ['complete']])],
      { host: { maxConcurrentCallsPerSession: '2', maxConcurrentSessions: '1' } },
    );

    await stage.quiet();

    expect(taken()).toEqual(['a1/1', 'a2/1']);
  });

  test('are given back when idle for sessionIdleTimeout, and when the function says so [E2]', async () => {
    await begin(
      [aMessage('a1', [['release'], ['complete']]), aMessage('a2', [['complete']]), aMessage('b1', [['complete']])],
      { host: { maxConcurrentSessions: '1' } },
    );

    await stage.quiet();

    expect(taken()).toEqual(['a1/1', 'b1/1', 'a2/1']);
  });

  test('keep their lock from the acceptance on, for maxAutoLockRenewalDuration in all [E3]', async () => {
    const host = { maxAutoLockRenewalDuration: '00:00:02', maxConcurrentSessions: '1' };
    await begin(
      [
        aMessage('a1', [['pause', 1_500], ['complete']]),
        aMessage('a2', { 1: [['pause', 2_000], ['complete']], 2: [['complete']] }),
      ],
      { host, lockDurationInMs: 1_000 },
    );
    await stage.until('a2', { failed: 'complete' });
    await stage.quiet();

    expect(stage.told('a1')).toContainEqual({ id: 'a1', did: 'complete' });
    expect(taken()).toEqual(['a1/1', 'a2/1', 'a2/2']);
  });

  test('whose lock is lost settle nothing, and are accepted anew [E4]', async () => {
    await begin([aMessage('a1', { 1: [['pause', 1_500], ['complete']] }), aMessage('a2', [['complete']])], {
      host: { maxAutoLockRenewalDuration: '00:00:00' },
      lockDurationInMs: 1_000,
    });
    await stage.quiet();

    expect(stage.told('a1').find(({ failed }) => failed)).toEqual({
      id: 'a1',
      failed: 'complete',
      code: status.UNKNOWN,
      details: expect.stringContaining('(SessionLockLost)'),
    });
    expect(taken()).toEqual(['a1/1', 'a1/2', 'a2/1']);
  });

  test('have a lock to renew and a state, by their id; the message has no lock of its own [E5]', async () => {
    await begin([
      aMessage('a1', [['state'], ['setState', '{"step":2}'], ['renewSession'], ['complete']]),
      aMessage('a2', { 1: [['state'], ['renew']], 2: [['complete']] }),
    ]);
    await stage.quiet();

    expect(stage.told('a1')).toContainEqual({ id: 'a1', did: 'state', state: '' });
    expect(stage.told('a1').map(({ did }) => did)).toContain('renewSession');
    expect(stage.told('a2')).toContainEqual({ id: 'a2', did: 'state', state: '{"step":2}' });
    expect(stage.told('a2').find(({ failed }) => failed)).toMatchObject({
      failed: 'renew',
      code: status.UNKNOWN,
      details: expect.stringMatching(/^System\.InvalidOperationException: /),
    });
  });

  test('end what runs before a stop, and what waits behind it is counted as never delivered', async () => {
    await begin([aMessage('a1', [['pause', 500], ['complete']]), aMessage('a2', [['complete']])]);
    await stage.until('a1', { taken: 1 });

    await stage.host.stop();

    expect(stage.told('a1')).toContainEqual({ id: 'a1', did: 'complete' });
    expect((await stage.peek()).map(({ messageId, deliveryCount }) => [messageId, deliveryCount])).toEqual([['a2', 0]]);
  });

  test('come in batches of one session each [E6]', async () => {
    await begin(
      ['a1', 'b1', 'a2', 'b2'].map((id) => aMessage(id, 'complete')),
      { app: 'batch' },
    );
    await stage.quiet();

    const batches = stage.told().flatMap(({ taken: batch }) => (batch ? [batch] : []));
    expect(batches).toEqual(
      expect.arrayContaining([
        ['a1/1', 'a2/1'],
        ['b1/1', 'b2/1'],
      ]),
    );
  });
});
