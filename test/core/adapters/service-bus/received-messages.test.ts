import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { registerReceivedMessages } from '../../../../functions/core/adapters/service-bus/received-messages.ts';
import { hex } from './wire-values.ts';

interface Resolver {
  createClient(source: string, data: object): unknown;
}

/** As the programming model gets it. */
const resolver = (): Resolver =>
  createRequire(import.meta.url)('@azure/functions-extensions-base').ResourceFactoryResolver.getInstance();

const SOURCE = 'AzureServiceBusReceivedMessage';
const bindingData = (message: string) => ({
  version: '1.0',
  source: SOURCE,
  contentType: 'application/octet-stream',
  content: Buffer.concat([hex('33221100 5544 7766 8899aabbccddeeff'), Buffer.from(message)]),
});
const received = (message: string) => ({
  lockToken: '00112233-4455-6677-8899-aabbccddeeff',
  raw: Buffer.from(message),
});

test('has the programming model hand over the lock token and the message, however often it is registered', () => {
  registerReceivedMessages();
  registerReceivedMessages();

  expect(resolver().createClient(SOURCE, bindingData('m'))).toEqual(received('m'));
  expect(resolver().createClient(SOURCE, [bindingData('m'), bindingData('n')])).toEqual([received('m'), received('n')]);
});
