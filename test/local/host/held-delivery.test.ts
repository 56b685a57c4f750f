import type { ServiceBusReceivedMessage, ServiceBusReceiver } from '@azure/service-bus';
import { expect, test } from 'vitest';
import { HeldDelivery } from '../../../local/host/service-bus/held-delivery.ts';

test('a delivery that is left to its lock no longer blocks the link, which holds 2048 unsettled ones', () => {
  const delivery = { settled: false };
  const message = { delivery } as unknown as ServiceBusReceivedMessage;

  new HeldDelivery(message, {} as ServiceBusReceiver).leave();

  expect(delivery.settled).toBe(true);
});
