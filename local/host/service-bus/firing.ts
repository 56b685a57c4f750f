import type { ServiceBusReceivedMessage } from '@azure/service-bus';
import type { Firing } from '../invoker.ts';
import type { TypedData } from '../worker-protocol.ts';
import { modelBindingData } from './model-binding-data.ts';
import type { ServiceBusTrigger } from './trigger.ts';
import { batchTriggerMetadata, triggerMetadata } from './trigger-metadata.ts';

/** What a function gets for one message. */
export function firingOf(message: ServiceBusReceivedMessage, trigger: ServiceBusTrigger): Firing {
  return {
    data: trigger.isDeferredBinding ? { modelBindingData: modelBindingData(message) } : bodyOf(message, trigger.bodyAs),
    triggerMetadata: triggerMetadata(message),
    details: [
      `MessageId: ${message.messageId}`,
      `SequenceNumber: ${message.sequenceNumber}`,
      `DeliveryCount: ${(message.deliveryCount ?? 0) + 1}`,
      `EnqueuedTimeUtc: ${message.enqueuedTimeUtc?.toISOString()}`,
      `LockedUntilUtc: ${message.lockedUntilUtc?.toISOString()}`,
      `SessionId: ${message.sessionId ?? '(null)'}`,
    ].join(', '),
    cause: {
      traceParent: message.applicationProperties?.['Diagnostic-Id'] ?? message.applicationProperties?.['traceparent'],
      traceState: message.applicationProperties?.['tracestate'],
    },
  };
}

/** What a function with `cardinality: 'many'` gets for several. */
export function batchFiringOf(messages: readonly ServiceBusReceivedMessage[], trigger: ServiceBusTrigger): Firing {
  return {
    data: trigger.isDeferredBinding
      ? { collectionModelBindingData: { modelBindingData: messages.map(modelBindingData) } }
      : bodiesOf(messages, trigger.bodyAs),
    triggerMetadata: batchTriggerMetadata(messages),
  };
}

function bodyOf(message: ServiceBusReceivedMessage, bodyAs: ServiceBusTrigger['bodyAs']): TypedData {
  const bytes = bodyBytes(message);
  return bodyAs === 'binary' ? { bytes } : { string: bytes.toString('utf8') };
}

function bodiesOf(messages: readonly ServiceBusReceivedMessage[], bodyAs: ServiceBusTrigger['bodyAs']): TypedData {
  const bodies = messages.map(bodyBytes);
  if (bodyAs === 'binary') return { collectionBytes: { bytes: bodies } };
  return { collectionString: { string: bodies.map((body) => body.toString('utf8')) } };
}

function bodyBytes({ body }: ServiceBusReceivedMessage): Buffer {
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body ?? null), 'utf8');
}
