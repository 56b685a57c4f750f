import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { ServiceBusAdministrationClient } from '@azure/service-bus';
import { expect, onTestFinished, test } from 'vitest';
import { startAdminServer } from '../../../../local/broker/admin/start-admin-server.ts';
import { aBroker, codeOf } from '../a-broker.ts';

/** A broker that serves its management API on a port of its own and on that for messages; this process trusts it. */
async function aTrustedAdmin() {
  const { broker, client } = await aBroker();
  const folder = await mkdtemp(join(tmpdir(), 'certificate-'));
  const certificateFile = join(folder, 'ca.crt');
  const server = await startAdminServer({ namespace: broker.namespace, certificateFile });
  broker.serveHttpBy((socket) => server.serve(socket));
  const trusted = getCACertificates('default');
  setDefaultCACertificates([...trusted, await readFile(certificateFile, 'utf8')]);
  onTestFinished(async () => {
    setDefaultCACertificates(trusted);
    await server.stop();
    await rm(folder, { recursive: true });
  });
  return { broker, client, port: server.port };
}

const secret = 'SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE';

test('serves the client of the SDK as it comes, which insists on HTTPS, beside clients by HTTP', async () => {
  const { broker, port } = await aTrustedAdmin();
  const admin = new ServiceBusAdministrationClient(`Endpoint=sb://localhost:${port};${secret}`);
  for (const name of ['a', 'b', 'c']) await admin.createQueue(name);
  const names: string[] = [];
  for await (const page of admin.listQueues().byPage({ maxPageSize: 2 })) names.push(...page.map(({ name }) => name));
  expect(names).toEqual(['a', 'b', 'c', 'orders']);
  expect((await fetch(`http://localhost:${port}/a?api-version=2021-05`)).status).toBe(200);
  expect(broker.namespace.queues()).toHaveLength(4);
});

test('serves it on the port for messages as well: one connection string does', async () => {
  const { broker, client } = await aTrustedAdmin();
  const admin = new ServiceBusAdministrationClient(broker.connectionString);
  await admin.createQueue('q');
  expect(await codeOf(client.createSender('q').sendMessages({ body: 'x' }))).toBe('no error');
  expect(await (await fetch(`http://localhost:${broker.port}/health`)).json()).toEqual({ status: 'healthy' });
});

test('is not trusted by who was not told to', async () => {
  const { broker } = await aBroker();
  const server = await startAdminServer({ namespace: broker.namespace });
  onTestFinished(() => server.stop());
  await expect(fetch(`https://localhost:${server.port}/health`)).rejects.toThrow('fetch failed');
});
