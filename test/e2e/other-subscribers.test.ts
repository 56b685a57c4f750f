import { expect, onTestFinished, test } from 'vitest';
import { removeFolder } from '../helpers/temporary-folder.ts';
import { anApp } from './support/an-app.ts';
import { anOrder, FAST_POLICY } from './support/orders.ts';
import { aStage } from './support/stage.ts';

// Field case K1: a retry that is published to the topic has every subscriber do its work again.
test('the copies of one subscriber reach no other', async () => {
  const app = await anApp({
    'local/entities.json': ({ UserConfig: { Namespaces } }) => {
      Namespaces[0].Topics[0].Subscriptions.push({ Name: 'shipping', Properties: {} });
    },
  });
  onTestFinished(() => removeFolder(app));
  const stage = await aStage(app, FAST_POLICY);
  onTestFinished(() => stage.stop());
  await stage.startHost();

  await stage.sendTo('orders', anOrder('recovers', [503, 503, 200]), anOrder('exhausted', [503]));
  await stage.until('recovers', 'succeeded');
  await stage.until('exhausted', 'dead-lettered');

  expect(stage.outcomes('recovers')).toEqual(['redelivered', 'redelivered', 'succeeded']);
  const shipping = stage.client.createReceiver('orders', 'shipping');
  const received = await shipping.peekMessages(100);
  expect(received.map(({ messageId }) => messageId)).toEqual(['recovers', 'exhausted']);
});
