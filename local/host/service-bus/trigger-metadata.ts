import type { ServiceBusReceivedMessage } from '@azure/service-bus';
import type { TypedData } from '../worker-protocol.ts';

/**
 * The trigger metadata of one message as the real host sends it: strings as strings, everything else as JSON, what is
 * null left out. The library lowers first letters and parses strings that look like JSON, so apps take what they need
 * from the message itself.
 */
export function triggerMetadata(message: ServiceBusReceivedMessage): Record<string, TypedData> {
  return Object.fromEntries(
    Object.entries(metadataOf(message)).flatMap(([name, value]) => {
      if (value === undefined || value === null) return [];
      return [[name, typeof value === 'string' ? { string: value } : { json: JSON.stringify(value, longAsNumber) }]];
    }),
  );
}

/** The same for a batch: each name with `Array` behind it, one entry a message. */
export function batchTriggerMetadata(messages: readonly ServiceBusReceivedMessage[]): Record<string, TypedData> {
  const each = messages.map(metadataOf);
  const names = Object.keys(each[0] ?? {});
  return Object.fromEntries(
    names.map((name) => {
      const values = each.map((metadata) => metadata[name] ?? null);
      return [`${name}Array`, { json: JSON.stringify(values, longAsNumber) }];
    }),
  );
}

function metadataOf(message: ServiceBusReceivedMessage): Record<string, unknown> {
  return {
    // .NET counts this delivery too.
    DeliveryCount: (message.deliveryCount ?? 0) + 1,
    LockToken: message.lockToken,
    MessageId: message.messageId,
    SequenceNumber: message.sequenceNumber?.toNumber(),
    CorrelationId: message.correlationId,
    ContentType: message.contentType,
    Subject: message.subject,
    Label: message.subject,
    To: message.to,
    ReplyTo: message.replyTo,
    ReplyToSessionId: message.replyToSessionId,
    SessionId: message.sessionId,
    PartitionKey: message.partitionKey,
    DeadLetterSource: message.deadLetterSource,
    EnqueuedTime: message.enqueuedTimeUtc,
    EnqueuedTimeUtc: message.enqueuedTimeUtc,
    ExpiresAt: message.expiresAtUtc,
    ExpiresAtUtc: message.expiresAtUtc,
    ApplicationProperties: message.applicationProperties ?? {},
    UserProperties: message.applicationProperties ?? {},
  };
}

function longAsNumber(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}
