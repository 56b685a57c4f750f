import { expect, test } from 'vitest';
import { PermanentError, TransientError } from '../../../functions/core/rules/errors.ts';
import { fingerprintOf } from '../../../functions/core/rules/fingerprint.ts';
import { aDelivery } from '../../fixtures/deliveries.ts';
import { aStage, claimElsewhere, lockToken } from './a-stage.ts';

/** A stage that keeps the keys its handler was given; the first call fails for now. */
function aStageWithKeys() {
  const keys: string[] = [];
  const stage = aStage({
    handle: async ({ idempotencyKey }) => {
      keys.push(idempotencyKey);
      if (keys.length === 1) throw new TransientError('not now');
    },
  });
  return { stage, keys };
}

const EDITED = { 'replay-edit': 'amount-corrected' };

test('an edited replay has a key of its own: under the old one a provider would answer as for the old content', async () => {
  const plain = aStageWithKeys();
  const edited = aStageWithKeys();
  await plain.stage.deliver(aDelivery({ generation: 1 }));
  await edited.stage.deliver(aDelivery({ generation: 1, properties: EDITED }));

  expect(edited.keys).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)]);
  expect(edited.keys).not.toEqual(plain.keys);
});

test('its redeliveries and deferrals keep the edit, and with it the key', async () => {
  const { stage, keys } = aStageWithKeys();
  await stage.deliver(aDelivery({ generation: 1, properties: EDITED }));
  const [redelivery] = [...stage.sender.accepted.values()];
  expect(redelivery?.set.get('replay-edit')).toEqual({ type: 'string', value: 'amount-corrected' });

  await stage.deliver(aDelivery({ generation: 1, attempt: 2, properties: EDITED, lockToken: lockToken(2) }));
  expect(keys[1]).toBe(keys[0]);

  const busy = aStage();
  await claimElsewhere(busy);
  await busy.deliver(aDelivery({ attempt: 2, properties: EDITED, lockToken: lockToken(2) }));
  const [deferral] = [...busy.sender.accepted.values()];
  expect(deferral?.set.get('replay-edit')).toEqual({ type: 'string', value: 'amount-corrected' });
});

test('an edit that this consumer did not write changes no key', async () => {
  const plain = aStageWithKeys();
  const foreign = aStageWithKeys();
  await plain.stage.deliver();
  await foreign.stage.deliver(aDelivery({ properties: EDITED }));

  expect(foreign.keys).toEqual(plain.keys);
});

test('brings the content that its event has from then on, where a plain replay with another is a conflict', async () => {
  const aDeadEvent = async () => {
    const stage = aStage({
      fingerprint: ({ orderId }) => fingerprintOf(orderId),
      handle: async ({ generation }) => {
        if (generation === 0) throw new PermanentError('NoSuchOrder', 'no order A-1');
      },
    });
    await stage.deliver();
    return stage;
  };
  const replay = { generation: 1, body: '{"orderId":"B-2"}', lockToken: lockToken(2) };

  const plain = await aDeadEvent();
  expect((await plain.deliver(aDelivery(replay))).reason).toBe('IdempotencyConflict');

  const edited = await aDeadEvent();
  expect((await edited.deliver(aDelivery({ ...replay, properties: EDITED }))).outcome).toBe('succeeded');
  expect(edited.record()?.fingerprint).toBe(fingerprintOf('B-2'));
});
