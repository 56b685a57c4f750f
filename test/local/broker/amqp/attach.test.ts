import { once } from 'node:events';
import rhea, { type EventContext, type Sender } from 'rhea';
import { expect, test } from 'vitest';
import { aBroker, QUEUE } from '../a-broker.ts';
import { aRawClient } from './raw-client.ts';

test('answers the attach before it sends what the credit beside the attach calls for', async () => {
  const { broker, client } = await aBroker();
  await client.createSender(QUEUE).sendMessages({ body: 'x' });
  const { connection } = await aRawClient(broker.port);
  const seen: string[] = [];
  const receiver = connection.open_receiver({ source: QUEUE, credit_window: 0 });
  receiver.add_credit(1);
  receiver.on('receiver_open', () => seen.push('attached'));
  await new Promise<void>((resolve) => {
    connection.on('protocol_error', (error: Error) => resolve(void seen.push(error.message)));
    receiver.on('message', () => resolve(void seen.push('message')));
  });
  expect(seen).toEqual(['attached', 'message']);
});

test('refuses a receiver without a source, so that no client takes it for attached', async () => {
  const { broker } = await aBroker();
  const { connection } = await aRawClient(broker.port);
  const receiver = connection.open_receiver('nowhere');
  const [{ receiver: answered }] = (await once(receiver, 'receiver_error')) as [EventContext];
  expect(answered?.source).toMatchObject({ value: null });
});

test('refuses a sender without a target, so that no client takes it for attached', async () => {
  const { broker } = await aBroker();
  const { connection } = await aRawClient(broker.port);
  const sender = connection.open_sender('nowhere');
  const [{ sender: answered }] = (await once(sender, 'sender_error')) as [EventContext];
  expect(answered?.target).toMatchObject({ value: null });
});

test('says that transactions are not supported', async () => {
  const { broker } = await aBroker();
  const { connection } = await aRawClient(broker.port);
  const sender = connection.open_sender({}) as Sender & { local: { attach: { target: unknown } } };
  const { types } = rhea;
  sender.local.attach.target = types.described(types.wrap_ulong(0x30), types.wrap_list([]));
  const [{ sender: answered }] = (await once(sender, 'sender_error')) as [EventContext];
  expect(answered?.error).toMatchObject({
    condition: 'amqp:not-implemented',
    description: 'A link needs the address of an entity. Transactions are not supported.',
  });
});
