import type { ServiceBusClient, ServiceBusReceivedMessage } from '@azure/service-bus';
import { peekAll } from './peek-all.ts';
import type { DeadLetterRow } from './result.ts';

/** Ids of the events that still have a message in the queue: waiting, scheduled or locked. */
export async function waitingMessageIds(client: ServiceBusClient, queue: string): Promise<Set<string>> {
  const messages = await contentOf(client, queue);
  return new Set(
    messages.map(({ messageId, applicationProperties }) =>
      String(applicationProperties?.['retry-event-id'] ?? messageId),
    ),
  );
}

/** The queue's dead letters, oldest first. */
export async function deadLetters(client: ServiceBusClient, queue: string): Promise<DeadLetterRow[]> {
  const messages = await contentOf(client, queue, 'deadLetter');
  return messages.map((message) => {
    const { DeadLetterReason: _, DeadLetterErrorDescription: __, ...properties } = message.applicationProperties ?? {};
    return {
      messageId: String(message.messageId ?? ''),
      reason: message.deadLetterReason ?? null,
      description: message.deadLetterErrorDescription ?? null,
      applicationProperties: properties,
      bodyBase64: bytesOf(message.body).toString('base64'),
    };
  });
}

const bytesOf = (body: unknown): Buffer =>
  Buffer.isBuffer(body)
    ? body
    : Buffer.from(body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body));

async function contentOf(
  client: ServiceBusClient,
  queue: string,
  subQueueType?: 'deadLetter',
): Promise<ServiceBusReceivedMessage[]> {
  const receiver = client.createReceiver(queue, {
    skipParsingBodyAsJson: true,
    ...(subQueueType ? { subQueueType } : {}),
  });
  try {
    return await peekAll(receiver);
  } finally {
    await receiver.close();
  }
}
