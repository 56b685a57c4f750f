import { DefaultAzureCredential, ManagedIdentityCredential } from '@azure/identity';
import { ServiceBusClient, type ServiceBusClientOptions } from '@azure/service-bus';

const OPTIONS: ServiceBusClientOptions = {
  // Few and short: the pipeline repeats, and knows how long the lock can be held.
  retryOptions: { maxRetries: 2, retryDelayInMs: 500, maxRetryDelayInMs: 2_000, timeoutInMs: 10_000 },
};

/**
 * Connects as Functions users expect: the setting `<name>` is a connection string, or
 * `<name>__fullyQualifiedNamespace` names the namespace for a managed identity (`<name>__clientId` for a user-assigned
 * one). Nothing is opened yet. Problems are pushed, a line each.
 */
export function serviceBusClient(
  name: string,
  environment: Readonly<Record<string, string | undefined>>,
  problems: string[],
): ServiceBusClient | undefined {
  const connectionString = environment[name];
  const namespace = environment[`${name}__fullyQualifiedNamespace`];
  if (!connectionString && !namespace) {
    problems.push(
      `${name}: expected a connection string, or ${name}__fullyQualifiedNamespace for an identity; got neither`,
    );
    return undefined;
  }
  try {
    if (connectionString) return new ServiceBusClient(connectionString, OPTIONS);
    const clientId = environment[`${name}__clientId`];
    const credential = clientId ? new ManagedIdentityCredential({ clientId }) : new DefaultAzureCredential();
    return new ServiceBusClient(namespace ?? '', credential, OPTIONS);
  } catch (error) {
    problems.push(
      `${name}: expected a Service Bus connection; ${error instanceof Error ? error.message : String(error)}`,
    );
    return undefined;
  }
}
