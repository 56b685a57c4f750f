import type { ServiceBusReceivedMessage } from '@azure/service-bus';
import type { ModelBindingData } from '../worker-protocol.ts';
import { withDeliveryCountRaised } from './delivery-count.ts';
import { encodedMessage } from './raw-message.ts';

/** What the app gets where its trigger has `sdkBinding: true`: the lock token and the message as it came. */
export function modelBindingData(message: ServiceBusReceivedMessage): ModelBindingData {
  return {
    version: '1.0',
    source: 'AzureServiceBusReceivedMessage',
    contentType: 'application/octet-stream',
    content: Buffer.concat([netGuidBytes(message.lockToken ?? ''), withDeliveryCountRaised(encodedMessage(message))]),
  };
}

/** The 16 bytes of a GUID as .NET writes them: the first three groups little-endian. */
export function netGuidBytes(guid: string): Buffer {
  const bytes = Buffer.from(guid.replaceAll('-', ''), 'hex');
  if (bytes.length !== 16) throw new Error(`Expected a lock token that is a GUID, got ${JSON.stringify(guid)}.`);
  bytes.subarray(0, 4).reverse();
  bytes.subarray(4, 6).reverse();
  bytes.subarray(6, 8).reverse();
  return bytes;
}
