import { once } from 'node:events';
import type { EventContext } from 'rhea';
import { expect, test } from 'vitest';
import { defaultQueueSettings } from '../../../../local/broker/model/queue-settings.ts';
import { aBroker, codeOf, QUEUE } from '../a-broker.ts';
import { aRawClient } from './raw-client.ts';

test('detaches the links of a queue that is removed, and those of no other', async () => {
  const { broker } = await aBroker();
  broker.namespace.addQueue('other', defaultQueueSettings);
  const { connection } = await aRawClient(broker.port);
  const sender = connection.open_sender(QUEUE);
  const receiver = connection.open_receiver(`${QUEUE}/$DeadLetterQueue`);
  const other = connection.open_sender('other');
  await Promise.all([once(sender, 'sendable'), once(receiver, 'receiver_open'), once(other, 'sendable')]);
  const closed = Promise.all([once(sender, 'sender_error'), once(receiver, 'receiver_error')]);
  broker.namespace.remove(QUEUE);
  const [[first], [second]] = (await closed) as [[EventContext], [EventContext]];
  expect([first.sender?.error, second.receiver?.error]).toMatchObject([
    { condition: 'amqp:not-found', description: "The messaging entity 'orders' could not be found." },
    { condition: 'amqp:not-found', description: "The messaging entity 'orders/$DeadLetterQueue' could not be found." },
  ]);
  expect(other.is_open()).toBe(true);
});

test('serves a queue that was added while it runs, and one of the same name after it was removed', async () => {
  const { broker, client } = await aBroker();
  expect(await codeOf(client.createSender('new').sendMessages({ body: 'x' }))).toBe('MessagingEntityNotFound');
  for (const body of ['first', 'second']) {
    broker.namespace.addQueue('new', defaultQueueSettings);
    const sender = client.createSender('new');
    const receiver = client.createReceiver('new', { receiveMode: 'receiveAndDelete' });
    await sender.sendMessages({ body });
    const [message] = await receiver.receiveMessages(1, { maxWaitTimeInMs: 5000 });
    expect(message?.body).toBe(body);
    broker.namespace.remove('new');
    await Promise.all([sender.close(), receiver.close()]);
  }
});

test('says that an entity is disabled for sends', async () => {
  const { broker, client } = await aBroker();
  const queue = broker.namespace.queue(QUEUE);
  queue.update({ ...queue.settings, status: 'SendDisabled' });
  expect(await codeOf(client.createSender(QUEUE).sendMessages({ body: 'x' }))).toBe('MessagingEntityDisabled');
});
