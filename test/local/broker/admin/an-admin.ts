import { ServiceBusAdministrationClient } from '@azure/service-bus';
import { onTestFinished } from 'vitest';
import { type AdminServerOptions, startAdminServer } from '../../../../local/broker/admin/start-admin-server.ts';
import { speakPlainHttp } from '../../../helpers/plain-http.ts';
import { aBroker, type TestBroker } from '../a-broker.ts';

export type TestAdmin = TestBroker & { readonly admin: ServiceBusAdministrationClient; readonly port: number };

/** A broker with its management API and a client of each. All end with the test. */
export async function anAdmin(options: Partial<AdminServerOptions> = {}): Promise<TestAdmin> {
  const test = await aBroker();
  const server = await startAdminServer({ namespace: test.broker.namespace, ...options });
  onTestFinished(() => server.stop());
  return { ...test, admin: anAdminClient(server.port), port: server.port };
}

/** The client as it comes, but for the scheme. */
export function anAdminClient(port: number): ServiceBusAdministrationClient {
  const client = new ServiceBusAdministrationClient(
    `Endpoint=sb://localhost:${port};SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;`,
    { retryOptions: { maxRetries: 0 } },
  );
  return speakPlainHttp(client);
}
