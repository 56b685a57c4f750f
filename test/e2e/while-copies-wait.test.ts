import { afterEach, expect, inject, onTestFinished, test } from 'vitest';
import { removeFolder } from '../helpers/temporary-folder.ts';
import { anApp } from './support/an-app.ts';
import { anOrder, FAST_POLICY } from './support/orders.ts';
import { aStage, type Stage } from './support/stage.ts';

let stage: Stage;

afterEach(() => stage.stop());

test('a policy lowered while copies wait loses nothing: they end as exhausted, without a run', async () => {
  stage = await aStage(inject('builtApp'), { ...FAST_POLICY, RETRY__ORDER_PLACED__BASE_DELAY_IN_MS: '2000' });
  const host = await stage.startHost();
  await stage.send(anOrder('waiting', [503]));
  await stage.until('waiting', 'redelivered');
  await host.stop();
  const callsBefore = stage.provider.calls.length;

  await stage.startHost({ RETRY__ORDER_PLACED__ATTEMPTS: '1' });
  await stage.until('waiting', 'dead-lettered');

  const { outcome, reason, tries, maxAttempts } = stage.reports.at(-1) ?? {};
  expect({ outcome, reason, tries, maxAttempts }).toEqual({
    outcome: 'dead-lettered',
    reason: 'AttemptsExhausted',
    tries: 0,
    maxAttempts: 1,
  });
  expect(stage.provider.calls).toHaveLength(callsBefore);
  const letters = await stage.deadLetters();
  expect(letters.map(({ reason, applicationProperties }) => [reason, applicationProperties['retry-event-id']])).toEqual(
    [['AttemptsExhausted', 'waiting']],
  );
});

// Field case B1.
test('duplicate detection eats what a producer sends twice, but no copy', async () => {
  const app = await anApp({
    'local/entities.json': ({ UserConfig }) => {
      UserConfig.Namespaces[0].Queues[0].Properties['RequiresDuplicateDetection'] = true;
    },
  });
  onTestFinished(() => removeFolder(app));
  stage = await aStage(app, FAST_POLICY);
  await stage.send(anOrder('again', [503, 503, 200]), anOrder('again'));
  expect((await stage.messages()).map(({ messageId }) => messageId)).toEqual(['again']);

  await stage.startHost();
  await stage.until('again', 'succeeded');

  expect(stage.outcomes('again')).toEqual(['redelivered', 'redelivered', 'succeeded']);
});
