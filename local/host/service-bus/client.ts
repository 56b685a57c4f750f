import { ServiceBusClient, type ServiceBusReceiver, type ServiceBusSessionReceiver } from '@azure/service-bus';
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

/** Messages keep their bytes, and the SDK leaves their locks alone. */
const RECEIVER_OPTIONS = {
  receiveMode: 'peekLock',
  maxAutoLockRenewalDurationInMs: 0,
  skipParsingBodyAsJson: true,
  skipConvertingDate: true,
} as const;

/** A peek-lock receiver. */
export function receiverFor(client: ServiceBusClient, entity: ServiceBusTrigger['entity']): ServiceBusReceiver {
  keepEncodedMessages();
  return entity.kind === 'queue'
    ? client.createReceiver(entity.queueName, RECEIVER_OPTIONS)
    : client.createReceiver(entity.topicName, entity.subscriptionName, RECEIVER_OPTIONS);
}

/**
 * Locks the next session that is free and has messages, and gives a peek-lock receiver for it.
 *
 * @throws when there is none for a minute, and at once when it is aborted
 */
export async function nextSession(
  client: ServiceBusClient,
  entity: ServiceBusTrigger['entity'],
  aborted: AbortSignal,
): Promise<ServiceBusSessionReceiver> {
  keepEncodedMessages();
  const accepted =
    entity.kind === 'queue'
      ? client.acceptNextSession(entity.queueName, RECEIVER_OPTIONS)
      : client.acceptNextSession(entity.topicName, entity.subscriptionName, RECEIVER_OPTIONS);
  // The SDK heeds a signal here only once its link is open.
  const abort = Promise.withResolvers<never>();
  const onAbort = () => abort.reject(aborted.reason);
  aborted.addEventListener('abort', onAbort);
  if (aborted.aborted) onAbort();
  try {
    return await Promise.race([accepted, abort.promise]);
  } catch (error) {
    void accepted.then(
      (late) => late.close(),
      () => undefined,
    );
    throw error;
  } finally {
    aborted.removeEventListener('abort', onAbort);
  }
}
