import type { ServiceBusReceivedMessage, ServiceBusReceiver } from '@azure/service-bus';
import { expect, test } from 'vitest';
import { HeldDelivery } from '../../../local/host/service-bus/held-delivery.ts';

test('a delivery that is left to its lock no longer blocks the link, which holds 2048 unsettled ones', () => {
  const delivery = { settled: false };
  const message = { delivery } as unknown as ServiceBusReceivedMessage;

  new HeldDelivery(message, {} as ServiceBusReceiver).leave();

  expect(delivery.settled).toBe(true);
});

test('an error after several tries is the last one, as of the client of .NET', async () => {
  const last = Object.assign(new Error('lost'), { code: 'MessageLockLost', retryable: true });
  const failing = () => Promise.reject(new AggregateError([new Error('busy'), last]));
  const receiver = { completeMessage: failing, renewMessageLock: failing } as unknown as ServiceBusReceiver;
  const delivery = new HeldDelivery({} as ServiceBusReceivedMessage, receiver);

  await expect(delivery.complete()).rejects.toBe(last);
  await expect(delivery.renewLock()).rejects.toBe(last);
  expect(delivery.settled).toBe(false);
});
