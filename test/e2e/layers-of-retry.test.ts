import { expect, inject, onTestFinished, test } from 'vitest';
import { anOrder, FAST_POLICY } from './support/orders.ts';
import { aStage } from './support/stage.ts';

// Field case G1: layers of retry that multiply with MaxDeliveryCount call the provider 25 to 30 times.
test('tries x attempts is how often the provider is called, and one dead letter comes of it', async () => {
  const stage = await aStage(inject('builtApp'), {
    ...FAST_POLICY,
    RETRY__ORDER_PLACED__TRIES: '3',
    RETRY__ORDER_PLACED__TRY_DELAYS_IN_MS: '10,20',
    RETRY__ORDER_PLACED__ATTEMPTS: '6',
    RETRY__ORDER_PLACED__MULTIPLIER: '1',
  });
  onTestFinished(() => stage.stop());
  await stage.startHost();

  await stage.send(anOrder('exhausted', [503]));
  await stage.until('exhausted', 'dead-lettered');

  expect(stage.reports.map(({ attempt, tries }) => [attempt, tries])).toEqual([1, 2, 3, 4, 5, 6].map((n) => [n, 3]));
  expect(stage.provider.calls).toHaveLength(3 * 6);
  expect((await stage.deadLetters()).map(({ reason }) => reason)).toEqual(['AttemptsExhausted']);
});
