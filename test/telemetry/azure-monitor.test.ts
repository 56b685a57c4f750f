import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aTemporaryFolder, removeFolder } from '../helpers/temporary-folder.ts';
import { retryRatio } from './retry-ratio.ts';
import { runTheThree } from './the-three.ts';

const SLOW = 120_000;

/** What is looked at of an item that Application Insights takes in. */
interface Item {
  readonly name: string;
  readonly sampleRate?: number;
  readonly tags: Readonly<Record<string, string>>;
  readonly data: { readonly baseData: Readonly<Record<string, unknown>> };
}

/** The exporter speaks TLS only, and Node makes no certificates. */
const canCertify = spawnSync('openssl', ['version']).status === 0;
const items: Item[] = [];
let server: Server | undefined;
beforeAll(async () => {
  if (!canCertify) return;
  const folder = await aTemporaryFolder('certificate');
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=localhost', '-days', '1'];
  spawnSync('openssl', [...request, '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', cert]);
  server = createServer({ key: await readFile(key), cert: await readFile(cert) }, async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const text = (request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString();
    const received: Item[] = text.startsWith('[') ? JSON.parse(text) : text.split('\n').map((line) => JSON.parse(line));
    items.push(...received);
    const answer = { itemsReceived: received.length, itemsAccepted: received.length, errors: [] };
    response.writeHead(200, { 'content-type': 'application/json', connection: 'close' }).end(JSON.stringify(answer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  await runTheThree({
    APPLICATIONINSIGHTS_CONNECTION_STRING: `InstrumentationKey=00000000-0000-0000-0000-000000000001;IngestionEndpoint=${endpoint}`,
    // What the distribution tells its maker of itself would go elsewhere.
    APPLICATION_INSIGHTS_NO_STATSBEAT: 'true',
    APPLICATIONINSIGHTS_STATSBEAT_DISABLED_ALL: 'true',
    NODE_EXTRA_CA_CERTS: cert,
  });
  await removeFolder(folder);
}, SLOW);
afterAll(() => {
  server?.closeAllConnections();
  server?.close();
});

const of = (kind: string) => items.filter(({ name }) => name.endsWith(kind));

interface Measured {
  readonly metrics: readonly { readonly name: string; readonly value: number }[];
  readonly properties: Readonly<Record<string, string>>;
}

test.skipIf(!canCertify)(
  'Application Insights receives the counts from which the alert computes the retry ratio',
  () => {
    const counts = of('Metric').flatMap(({ data }) => {
      const { metrics, properties } = data.baseData as unknown as Measured;
      return metrics.map(({ name, value }) => ({ name, value, attributes: properties }));
    });

    expect(retryRatio(counts)).toEqual({ attempts: 7, retryRatio: 4 / 7 });
  },
);

test.skipIf(!canCertify)(
  'Application Insights receives a line for each delivery, in the trace of its event, and all of them',
  () => {
    const reports = of('Message').flatMap(({ tags, data, sampleRate }) => {
      const message = String(data.baseData['message']);
      if (!message.includes('delivery.processed')) return [];
      return [{ operation: tags['ai.operation.id'], sampleRate: sampleRate ?? 100, ...JSON.parse(message) }];
    });

    expect(reports).toHaveLength(7);
    expect(reports.filter(({ sampleRate }) => sampleRate !== 100)).toEqual([]);
    expect(new Set(reports.filter(({ eventId }) => eventId === 'A').map(({ operation }) => operation)).size).toBe(1);
  },
);

test.skipIf(!canCertify)('Application Insights receives each delivery as a request', () => {
  const requests = of('Request').map(({ tags, data }) => [tags['ai.operation.name'], data.baseData['success']]);

  expect(requests).toHaveLength(7);
  expect(requests.filter(([name]) => name !== 'process billing-order-placed')).toEqual([]);
  expect(requests.filter(([, success]) => success)).toHaveLength(1);
});
