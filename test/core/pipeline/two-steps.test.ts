import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../../functions/core/adapters/system-clock.ts';
import { processDelivery } from '../../../functions/core/pipeline/process-delivery.ts';
import { processWide } from '../../../functions/core/pipeline/process-wide.ts';
import { TransientError } from '../../../functions/core/rules/errors.ts';
import type { HandlerContext } from '../../../functions/core/rules/handler.ts';
import type { Copy } from '../../../functions/core/rules/redelivery.ts';
import { paymentsOverHttp } from '../../../functions/events/order-placed/payments.ts';
import { type PaymentProvider, startPaymentProvider } from '../../../local/provider/payment-provider.ts';
import { fakeTelemetry } from '../../fakes/fake-telemetry.ts';
import { inMemoryLedger } from '../../fakes/in-memory-ledger.ts';
import { aDelivery, aPolicy, CONSUMER } from '../../fixtures/deliveries.ts';
import { lockToken } from './a-stage.ts';

let provider: PaymentProvider;
afterEach(() => provider.stop());

test('a handler that charges, then fails to save the invoice, charges once over all its attempts', async () => {
  provider = await startPaymentProvider();
  const payments = paymentsOverHttp(provider.url);
  const copies: Copy[] = [];
  const settled: string[] = [];
  let invoices = 0;
  const chargeAndSave = async (order: { orderId: string }, { idempotencyKey, signal, attempt }: HandlerContext) => {
    await payments.charge({ ...order, amount: 10, currency: 'EUR' }, { idempotencyKey, signal });
    if (attempt < 3) throw new TransientError('the invoice store is down');
    invoices++;
  };
  const consumer = {
    name: CONSUMER,
    policyName: 'order-placed',
    policy: aPolicy({ attempts: 4, tries: 1 }),
    validate: (value: unknown) => ({ kind: 'valid', event: value as { orderId: string } }) as const,
    handle: chargeAndSave,
  };
  const ports = {
    clock: systemClock,
    ledger: inMemoryLedger(systemClock),
    sender: { send: async (_: unknown, copy: Copy) => void copies.push(copy) },
    settlement: {
      complete: async () => void settled.push('complete'),
      abandon: async () => void settled.push('abandon'),
      deadLetter: async () => void settled.push('dead-letter'),
      renewLock: async () => undefined,
    },
    telemetry: fakeTelemetry(),
    processWide: processWide(systemClock),
  };
  const now = Date.now();

  for (const attempt of [1, 2, 3]) {
    const delivery = aDelivery({
      attempt,
      lockToken: lockToken(attempt),
      enqueuedUtc: now,
      lockedUntilUtc: now + 60_000,
      sequenceNumber: String(attempt),
    });
    await processDelivery(delivery, consumer, ports, {
      startedAtInMs: systemClock.monotonicInMs(),
      budgetInMs: 60_000,
      stopping: new AbortController().signal,
      traceparent: undefined,
      log: () => undefined,
    });
  }

  expect({
    charges: provider.charges,
    calls: provider.calls.map(({ replayed }) => replayed),
    invoices,
    settled,
  }).toEqual({
    charges: [{ orderId: 'A-1', count: 1 }],
    calls: [false, true, true],
    invoices: 1,
    settled: ['complete', 'complete', 'complete'],
  });
  expect(copies).toHaveLength(2);
});
