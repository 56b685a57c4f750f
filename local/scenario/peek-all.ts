import type { ServiceBusReceivedMessage, ServiceBusReceiver } from '@azure/service-bus';
import Long from 'long';

const PAGE = 250;

/** All messages of an entity as they are now, whatever their state. */
export async function peekAll(receiver: ServiceBusReceiver): Promise<ServiceBusReceivedMessage[]> {
  const all: ServiceBusReceivedMessage[] = [];
  // The SDK keeps the place of its last peek for all receivers of a connection, so each page says where it starts.
  for (let from = Long.ZERO; ; ) {
    const page = await receiver.peekMessages(PAGE, { fromSequenceNumber: from });
    all.push(...page);
    const last = page.at(-1)?.sequenceNumber;
    if (!last) return all;
    from = last.add(1);
  }
}
