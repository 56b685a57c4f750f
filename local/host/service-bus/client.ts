import { ServiceBusClient, type ServiceBusReceiver } from '@azure/service-bus';
import type { Connection } from '../setting-reference.ts';
import { keepEncodedMessages } from './raw-message.ts';
import type { ServiceBusTrigger } from './trigger.ts';

/** Short and steady, so that a broker that comes back is noticed within a second. */
const RETRY_OPTIONS = { maxRetries: 3, retryDelayInMs: 1_000, timeoutInMs: 60_000 };

/** The client for a connection; one for each, however many functions use it. */
export async function connectTo(
  connection: Connection,
  clients: Map<string, ServiceBusClient>,
): Promise<ServiceBusClient> {
  const key = connection.kind === 'connectionString' ? connection.connectionString : connection.fullyQualifiedNamespace;
  const known = clients.get(key);
  if (known) return known;
  const client = await newClient(connection);
  clients.set(key, client);
  return client;
}

async function newClient(connection: Connection): Promise<ServiceBusClient> {
  const options = { retryOptions: RETRY_OPTIONS };
  if (connection.kind === 'connectionString') return new ServiceBusClient(connection.connectionString, options);
  // Only who uses it pays for loading it.
  const { DefaultAzureCredential } = await import('@azure/identity');
  return new ServiceBusClient(connection.fullyQualifiedNamespace, new DefaultAzureCredential(), options);
}

/** A peek-lock receiver whose messages keep their bytes, and whose locks the SDK leaves alone. */
export function receiverFor(client: ServiceBusClient, entity: ServiceBusTrigger['entity']): ServiceBusReceiver {
  keepEncodedMessages();
  const options = {
    receiveMode: 'peekLock',
    maxAutoLockRenewalDurationInMs: 0,
    skipParsingBodyAsJson: true,
    skipConvertingDate: true,
  } as const;
  return entity.kind === 'queue'
    ? client.createReceiver(entity.queueName, options)
    : client.createReceiver(entity.topicName, entity.subscriptionName, options);
}
