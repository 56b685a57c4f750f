import type {
  ServiceBusClient,
  ServiceBusReceivedMessage,
  ServiceBusReceiver,
  ServiceBusSender,
} from '@azure/service-bus';
import Long from 'long';
import { loadEntities } from '../../../local/broker/entities.ts';

const MOST = 100;
/** Options of their own for each receiver: the SDK takes the mode out of those that it is given. */
function deleting(subQueueType?: 'deadLetter' | 'transferDeadLetter') {
  const receiveMode = 'receiveAndDelete' as const;
  return subQueueType === undefined ? { receiveMode } : { receiveMode, subQueueType };
}

type Wanted = ServiceBusReceivedMessage['state'];

/** Empties every entity of the file, whatever state its messages are in; waits for locks that somebody still holds. */
export async function emptyAll(client: ServiceBusClient, entityFile: string): Promise<void> {
  const { queues, topics = new Map() } = await loadEntities(entityFile);
  await Promise.all([
    ...[...queues].map(([name, { requiresSession }]) => emptyQueue(client, name, requiresSession)),
    ...[...topics].map(([topic, { subscriptions }]) => emptyTopic(client, topic, [...subscriptions.keys()])),
  ]);
}

async function emptyQueue(client: ServiceBusClient, name: string, hasSessions: boolean): Promise<void> {
  const sender = client.createSender(name);
  if (hasSessions) await emptySessions(client, name, sender);
  else await empty(client.createReceiver(name, deleting()), sender);
  await empty(client.createReceiver(name, deleting('deadLetter')), sender);
  await empty(client.createReceiver(name, deleting('transferDeadLetter')), sender);
  await sender.close();
}

async function emptyTopic(client: ServiceBusClient, topic: string, subscriptions: readonly string[]): Promise<void> {
  const sender = client.createSender(topic);
  for (const name of subscriptions) {
    await empty(client.createReceiver(topic, name, deleting()), sender);
    await empty(client.createReceiver(topic, name, deleting('deadLetter')), sender);
  }
  await sender.close();
}

async function empty(receiver: ServiceBusReceiver, sender: ServiceBusSender): Promise<void> {
  for (let messages = await peek(receiver); messages.length > 0; messages = await peek(receiver)) {
    await removeAll(receiver, sender, messages);
  }
  await receiver.close();
}

async function emptySessions(client: ServiceBusClient, queue: string, sender: ServiceBusSender): Promise<void> {
  const browser = client.createReceiver(queue);
  for (let messages = await peek(browser); messages.length > 0; messages = await peek(browser)) {
    for (const sessionId of new Set(messages.map((message) => message.sessionId ?? ''))) {
      const session = await client.acceptSession(queue, sessionId, deleting());
      const mine = messages.filter((message) => message.sessionId === sessionId);
      await removeAll(session, sender, mine);
      await session.close();
    }
  }
  await browser.close();
}

async function removeAll(
  receiver: Pick<ServiceBusReceiver, 'receiveMessages' | 'receiveDeferredMessages'>,
  sender: ServiceBusSender,
  messages: readonly ServiceBusReceivedMessage[],
): Promise<void> {
  const numbers = (wanted: Wanted) =>
    messages.flatMap(({ state, sequenceNumber }) => (state === wanted && sequenceNumber ? [sequenceNumber] : []));
  const [deferred, scheduled] = [numbers('deferred'), numbers('scheduled')];
  // What is locked, or was due a moment ago, cannot be taken now, and is seen again by the next peek.
  if (deferred.length > 0) await receiver.receiveDeferredMessages(deferred).catch(() => {});
  if (scheduled.length > 0) await sender.cancelScheduledMessages(scheduled).catch(() => {});
  while ((await receiver.receiveMessages(MOST, { maxWaitTimeInMs: 300 })).length > 0);
}

/** A receiver goes on from its last peek, unless it is told where to begin. */
function peek(receiver: ServiceBusReceiver): Promise<ServiceBusReceivedMessage[]> {
  return receiver.peekMessages(MOST, { fromSequenceNumber: Long.ONE });
}
