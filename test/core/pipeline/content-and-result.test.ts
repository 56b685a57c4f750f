import { describe, expect, test } from 'vitest';
import type { Report } from '../../../functions/core/pipeline/ports.ts';
import { withoutLedger } from '../../../functions/core/pipeline/without-ledger.ts';
import { fingerprintOf } from '../../../functions/core/rules/fingerprint.ts';
import { DEFAULT_POLICY } from '../../../functions/core/rules/policy.ts';
import { aDelivery, anOrigin } from '../../fixtures/deliveries.ts';
import { aReport, aStage, KEY, lockToken } from './a-stage.ts';

const again = (body?: string) =>
  aDelivery({ lockToken: lockToken(2), sequenceNumber: '8', ...(body === undefined ? {} : { body }) });

describe('an event that names its content', () => {
  const fingerprint = ({ orderId }: { readonly orderId: string }) => fingerprintOf(orderId);

  test('is dead-lettered where its id is known with another one, and the record stays', async () => {
    const stage = aStage({ fingerprint });
    await stage.deliver();
    const before = stage.record();

    const report = await stage.deliver(again('{"orderId":"B-2"}'));

    const [recorded, now] = [fingerprintOf('A-1').slice(0, 8), fingerprintOf('B-2').slice(0, 8)];
    const why = `event A is known with another content (fingerprint ${recorded}, now ${now})`;
    expect(report).toEqual(
      aReport({
        sequenceNumber: '8',
        tries: 0,
        outcome: 'dead-lettered',
        reason: 'IdempotencyConflict',
        description: expect.stringContaining(why) as string,
      }),
    );
    expect(stage.record()).toEqual(before);
  });

  test('is a duplicate where its content is the same', async () => {
    const stage = aStage({ fingerprint });
    await stage.deliver();

    expect(await stage.deliver(again())).toEqual(
      aReport({ sequenceNumber: '8', deliveryCount: 1, tries: 0, outcome: 'duplicate' }),
    );
  });
});

describe('what a handler returned', () => {
  const handed = async (result: unknown): Promise<{ results: unknown[]; report: Report; warnings: number }> => {
    const results: unknown[] = [];
    const stage = aStage({ handle: async () => result, onDuplicate: async (kept) => void results.push(kept) });
    await stage.deliver();
    const report = await stage.deliver(again());
    return { results, report, warnings: stage.telemetry.lines.length };
  };
  const duplicate = aReport({ sequenceNumber: '8', tries: 0, outcome: 'duplicate' });

  test('is handed to its duplicates', async () => {
    const chargeId = 'c-1';
    expect(await handed({ chargeId })).toEqual({ results: [{ chargeId }], report: duplicate, warnings: 0 });
  });

  test('is nothing where it returned nothing', async () => {
    expect(await handed(undefined)).toEqual({ results: [], report: duplicate, warnings: 0 });
  });

  test.each([
    ['more than 8 KB of JSON', 'x'.repeat(8_191)],
    ['no JSON', 1n],
  ])('is not kept where it is %s, and that is said', async (_, result) => {
    expect(await handed(result)).toEqual({ results: [], report: duplicate, warnings: 1 });
  });

  test('does not keep a duplicate from its end where whoever gets it fails', async () => {
    const onDuplicate = () => Promise.reject(new Error('no'));
    const stage = aStage({ handle: async () => 1, onDuplicate });
    await stage.deliver();

    expect(await stage.deliver(again())).toEqual(duplicate);
  });

  test('keeps a duplicate no longer than a handler may take where whoever gets it hangs', async () => {
    const signals: AbortSignal[] = [];
    const onDuplicate = (_result: unknown, { signal }: { readonly signal: AbortSignal }) => {
      signals.push(signal);
      return new Promise<void>(() => {});
    };
    const stage = aStage({ handle: async () => 1, onDuplicate });
    await stage.deliver();

    const { handlerTimeoutInMs: durationInMs } = DEFAULT_POLICY;
    expect(await stage.deliver(again())).toEqual({ ...duplicate, durationInMs });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(stage.telemetry.lines).toHaveLength(1);
    expect(stage.settlement.settled.size).toBe(2);
  });

  test('keeps a duplicate not at all once the process is told to stop', async () => {
    const stage = aStage({
      handle: async () => 1,
      onDuplicate: () => {
        stage.stop.abort();
        return new Promise<void>(() => {});
      },
    });
    await stage.deliver();

    expect(await stage.deliver(again())).toEqual(duplicate);
  });
});

describe('an event without a ledger', () => {
  const claimant = { generation: 0, attempt: 1, origin: anOrigin(), owner: 'lock-1' };

  test.each([1, 3])('runs whatever comes, and counts earlier runs by delivery %s', async (deliveryCount) => {
    const claim = await withoutLedger(deliveryCount).claim(KEY, claimant, 60_000, true);
    expect(claim).toMatchObject({ kind: 'run', hold: { record: { attempt: 1, takeovers: deliveryCount - 1 } } });
  });
});
