import type { ServiceBusReceivedMessage, ServiceBusReceiver } from '@azure/service-bus';
import type { ServiceBusConfig } from '../host-json.ts';
import type { Listener } from '../listener.ts';
import { batchFiringOf } from './firing.ts';
import { HeldDelivery } from './held-delivery.ts';
import {
  dispatch,
  ERROR_PAUSE_IN_MS,
  GATHERING,
  type ListenerOptions,
  pause,
  settleAfterwards,
  type WriteLog,
  writeLogOf,
} from './service-bus-listener.ts';

/** How long one request for messages stays open, in ms; the next follows at once. */
const RECEIVE_WAIT_IN_MS = 30_000;

/**
 * Several messages an invocation, up to maxMessageBatchSize, one batch after the other. Nobody renews their locks: the
 * real host does not either, so that a batch has no longer than the entity's lock.
 */
export function startBatchListener(options: ListenerOptions): Listener {
  const log = writeLogOf(options);
  const stop = new AbortController();
  const receiving = receiveBatches(options, stop.signal, log);
  return {
    stopReceiving: async () => stop.abort(),
    idle: () => receiving,
  };
}

async function receiveBatches(options: ListenerOptions, stopped: AbortSignal, log: WriteLog): Promise<void> {
  while (!stopped.aborted) {
    try {
      const messages = await collect(options.receiver, options.config, stopped);
      const deliveries = messages.map((message) => new HeldDelivery(message, options.receiver));
      if (stopped.aborted)
        await Promise.all(deliveries.map((delivery) => settleAfterwards(delivery, true, options, log)));
      else if (deliveries.length > 0)
        await dispatch(deliveries, batchFiringOf(messages, options.trigger), options, log);
    } catch (error) {
      if (stopped.aborted) return;
      log(
        'error',
        `Message processing error (Action=Receive, EntityPath=${options.receiver.entityPath}): ${(error as Error).message}`,
      );
      await pause(ERROR_PAUSE_IN_MS, stopped);
    }
  }
}

/** Waits for the first message, then for minMessageBatchSize of them, but no longer than maxBatchWaitTime. */
async function collect(
  receiver: ServiceBusReceiver,
  config: ServiceBusConfig,
  abortSignal: AbortSignal,
): Promise<ServiceBusReceivedMessage[]> {
  const most = config.maxMessageBatchSize;
  const messages = await receiver.receiveMessages(most, {
    maxWaitTimeInMs: RECEIVE_WAIT_IN_MS,
    abortSignal,
    ...GATHERING,
  });
  const endsAtMs = performance.now() + config.maxBatchWaitTimeInMs;
  while (messages.length > 0 && messages.length < config.minMessageBatchSize && !abortSignal.aborted) {
    const maxWaitTimeInMs = Math.floor(endsAtMs - performance.now());
    if (maxWaitTimeInMs <= 0) break;
    // What has been received already must survive a stop or an error here.
    const more = await receiver
      .receiveMessages(most - messages.length, { maxWaitTimeInMs, abortSignal, ...GATHERING })
      .catch(() => []);
    messages.push(...more);
  }
  return messages;
}
