import { status } from '@grpc/grpc-js';
import rhea from 'rhea';
import { afterEach, describe, expect, test } from 'vitest';
import { aQueueStage, type QueueStage } from './queue-stage.ts';

let stage: QueueStage;

afterEach(() => stage?.stop());

async function begin(options?: Parameters<typeof aQueueStage>[0]): Promise<void> {
  stage = await aQueueStage(options);
}

describe('what the host does after an invocation', () => {
  test('nothing to a message that the function has settled [A1]', async () => {
    await begin();

    await stage.send('m', [['complete']]);
    await stage.quiet();

    expect(stage.told()).toEqual([
      { id: 'm', taken: 1 },
      { id: 'm', did: 'complete' },
    ]);
  });

  test.each(['false', 'true'])(
    'throws, not settled: abandoned at once, with autoCompleteMessages %s [A2]',
    async (autoComplete) => {
      await begin({ settings: { AzureFunctionsJobHost__extensions__serviceBus__autoCompleteMessages: autoComplete } });

      // The lock holds for a minute: only an abandon brings the message back within the test.
      await stage.send('m', { 1: [['throw']] });
      await stage.quiet();

      expect(stage.told()).toEqual([
        { id: 'm', taken: 1 },
        { id: 'm', taken: 2 },
        { id: 'm', did: 'complete' },
      ]);
    },
  );

  test('returns, not settled: left to its lock, then redelivered [A3]', async () => {
    await begin({ queue: { lockDurationInMs: 1_000 } });
    const sentAtMs = performance.now();

    await stage.send('m', { 1: [] });
    await stage.until('m', { taken: 2 });

    expect(performance.now() - sentAtMs).toBeGreaterThanOrEqual(990);
  });

  test('returns, not settled, autoCompleteMessages true: completed [A4]', async () => {
    await begin({ settings: { AzureFunctionsJobHost__extensions__serviceBus__autoCompleteMessages: 'true' } });

    await stage.send('m', []);
    await stage.until('m', { taken: 1 });
    await stage.quiet();

    expect(stage.told()).toEqual([{ id: 'm', taken: 1 }]);
  });

  test('the lock token is forgotten: a later settlement is refused [S7]', async () => {
    await begin({ queue: { lockDurationInMs: 60_000 } });

    await stage.send('m', [['later']]);
    await stage.until('m', { later: status.FAILED_PRECONDITION });

    expect(stage.told('m').at(-1)?.['details']).toMatch(/^LockToken [0-9a-f-]{36} not found\.$/);
  });
});

describe('settlement by the function', () => {
  test('dead-letters with its reason and description', async () => {
    await begin();

    await stage.send('m', [['deadLetter', 'SchemaViolation', 'amount is missing']]);
    await stage.quiet();

    const [dead] = await stage.peek('q/$DeadLetterQueue');
    expect([dead?.messageId, dead?.deadLetterReason, dead?.deadLetterErrorDescription]).toEqual([
      'm',
      'SchemaViolation',
      'amount is missing',
    ]);
  });

  test('abandons with properties, once, and throwing afterwards changes nothing', async () => {
    await begin();

    // {"n": long 7}
    await stage.send('m', { 1: [['abandon', 'c10602a1016e5507'], ['throw']], 2: [['tell'], ['complete']] });
    await stage.quiet();

    expect(
      stage
        .told('m')
        .filter(({ taken }) => taken)
        .map(({ taken }) => taken),
    ).toEqual([1, 2]);
    expect(stage.told('m').find(({ metadata }) => metadata)).toMatchObject({
      metadata: { applicationProperties: { n: 7 } },
    });
  });

  test('defers', async () => {
    await begin();

    await stage.send('m', [['defer']]);
    await stage.until('m', { did: 'defer' });

    expect((await stage.peek()).map(({ messageId, state }) => [messageId, state])).toEqual([['m', 'deferred']]);
  });

  test('a second one meets a lost lock, and so does one after the lock has ended [S8]', async () => {
    await begin({
      queue: { lockDurationInMs: 1_000 },
      settings: { AzureFunctionsJobHost__extensions__serviceBus__maxAutoLockRenewalDuration: '00:00:00' },
    });

    await stage.send('twice', { 1: [['complete'], ['complete']] });
    await stage.send('late', { 1: [['pause', 1_500], ['complete']] });
    await stage.until('twice', { failed: 'complete' });
    await stage.until('late', { failed: 'complete' });
    // A settlement that has failed is none: the host tries its own, which meets the same.
    await expect
      .poll(() => stage.log.messages())
      .toContainEqual(
        expect.stringMatching(/^Settling message "late" \(sequence number 2\) after its invocation failed: /),
      );

    const failures = stage.told().filter(({ failed }) => failed);
    expect(failures).toEqual(
      ['twice', 'late'].map((id) => ({
        id,
        failed: 'complete',
        code: status.UNKNOWN,
        details: expect.stringContaining('(MessageLockLost)'),
      })),
    );
    await stage.quiet();
  });
});

describe('what the function gets', () => {
  test('is ModelBindingData: the lock token, then the message byte for byte, its delivery count one higher [S4, S5]', async () => {
    await begin();
    const applicationProperties = {
      long: rhea.types.wrap_long(7),
      uint: rhea.types.wrap_uint(7),
      when: rhea.types.wrap_timestamp(1_700_000_000_000),
      symbol: rhea.types.wrap_symbol('s'),
    };
    const body = Buffer.from(JSON.stringify([['tell'], ['complete']]));

    await stage.sendRaw({ bodyType: 'data', body, properties: { messageId: 'm' }, applicationProperties } as never);
    await stage.quiet();

    const told = stage.told('m').find(({ encoded }) => encoded);
    expect(told).toMatchObject({
      version: '1.0',
      source: 'AzureServiceBusReceivedMessage',
      contentType: 'application/octet-stream',
    });
    const asSent = rhea.message.encode({
      application_properties: applicationProperties,
      body: rhea.message.data_section(body),
    } as never);
    const sections = (asSent as unknown as Buffer).toString('hex').replace(/^.*?(?=005374)/, '');
    expect(told?.['encoded']).toContain(sections);
    const decoded = rhea.message.decode(Buffer.from(String(told?.['encoded']), 'hex'));
    expect([decoded['delivery_count'], decoded['message_id']]).toEqual([1, 'm']);
  });

  test('comes with trigger metadata as the real host sends it [W7]', async () => {
    await begin();

    await stage.send('123', [['tell'], ['complete']], {
      subject: 's',
      correlationId: 'c',
      contentType: 'application/json',
      applicationProperties: { Tenant: 'a' },
    });
    await stage.quiet();

    const isoDate = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(stage.told().find(({ metadata }) => metadata)?.['metadata']).toEqual({
      deliveryCount: 1,
      lockToken: expect.stringMatching(/^[0-9a-f-]{36}$/),
      // Strings are JSON-parsed and keys re-cased by the library: nothing to rely on.
      messageId: 123,
      sequenceNumber: 1,
      correlationId: 'c',
      contentType: 'application/json',
      subject: 's',
      label: 's',
      enqueuedTime: isoDate,
      enqueuedTimeUtc: isoDate,
      expiresAt: isoDate,
      expiresAtUtc: isoDate,
      applicationProperties: { tenant: 'a' },
      userProperties: { tenant: 'a' },
    });
  });
});

test('a function-level retry policy means nothing to a Service Bus trigger, and the host says so once [T3]', async () => {
  await begin();

  expect(stage.log.messages().filter((line) => line.includes('retry'))).toEqual([
    'Function "take" has a retry policy, which has no effect: a Service Bus trigger has none. What to do: remove "retry"; how often a message is tried is up to the maximum delivery count of its queue or subscription, or to the function.',
  ]);

  await stage.send('m', { 1: [['throw']], 2: [['tell'], ['complete']] });
  await stage.quiet();

  // The trigger of the fixture has a retry policy. It was the broker that delivered again, and nobody counted retries.
  expect(stage.told().find(({ metadata }) => metadata)).toMatchObject({ metadata: { deliveryCount: 2 }, retry: null });
});

describe('locks', () => {
  test('are renewed while the function runs, also for two messages with one id [L1]', async () => {
    await begin({ queue: { lockDurationInMs: 1_000 } });

    await stage.send('m', [['pause', 2_500], ['complete']]);
    await stage.send('m', [['pause', 2_500], ['complete']]);
    await stage.quiet();

    expect(stage.told()).toEqual([
      { id: 'm', taken: 1 },
      { id: 'm', taken: 1 },
      { id: 'm', did: 'pause' },
      { id: 'm', did: 'pause' },
      { id: 'm', did: 'complete' },
      { id: 'm', did: 'complete' },
    ]);
  });

  test('are renewed no longer than maxAutoLockRenewalDuration [L1]', async () => {
    await begin({
      queue: { lockDurationInMs: 1_000 },
      settings: { AzureFunctionsJobHost__extensions__serviceBus__maxAutoLockRenewalDuration: '00:00:01.5' },
      drainLimitInMs: 100,
    });

    await stage.send('m', { 1: [['pause', 3_500], ['complete']], 2: [['wait', 'never'], ['complete']] });

    await stage.until('m', { failed: 'complete' });
  });

  test('can be renewed by the function', async () => {
    await begin();

    await stage.send('m', [['renew'], ['complete']]);
    await stage.quiet();

    expect(stage.told().map(({ did }) => did)).toEqual([undefined, 'renew', 'complete']);
  });
});
