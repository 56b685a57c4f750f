import type { ProcessErrorArgs } from '@azure/service-bus';
import type { Listener } from '../listener.ts';
import { firingOf } from './firing.ts';
import { HeldDelivery } from './held-delivery.ts';
import { keepLockRenewed } from './lock-renewal.ts';
import { dispatch, type ListenerOptions, settleAfterwards, type WriteLog, writeLogOf } from './service-bus-listener.ts';
import { Slots } from './slots.ts';

/** One message an invocation, up to maxConcurrentCalls at a time, each lock renewed while it runs. */
export function startSingleListener(options: ListenerOptions): Listener {
  const { config, receiver } = options;
  const log = writeLogOf(options);
  const slots = new Slots(config.maxConcurrentCalls);
  let receiving = true;

  const subscription = receiver.subscribe(
    {
      processMessage: async (message) => {
        const delivery = new HeldDelivery(message, receiver);
        // A prefetched message waits here with its lock running, as it does in the real one. What is taken after the
        // stop counts as failed before it began: it is abandoned.
        await slots.use(() =>
          receiving ? dispatchRenewed(delivery, options, log) : settleAfterwards(delivery, true, options, log),
        );
      },
      processError: async ({ error, errorSource }: ProcessErrorArgs) =>
        log(
          // What a stop interrupts is no fault.
          receiving ? 'error' : 'debug',
          `Message processing error (Action=${errorSource}, EntityPath=${receiver.entityPath}): ${error.message}`,
        ),
    },
    { autoCompleteMessages: false, maxConcurrentCalls: config.maxConcurrentCalls + config.prefetchCount },
  );

  return {
    stopReceiving: async () => {
      receiving = false;
      await subscription.close();
    },
    idle: () => slots.idle(),
  };
}

/** The lock is renewed for as long as the function runs. */
async function dispatchRenewed(delivery: HeldDelivery, options: ListenerOptions, log: WriteLog): Promise<void> {
  const { message } = delivery;
  const stopRenewing = keepLockRenewed({
    lockedUntilUtc: message.lockedUntilUtc ?? new Date(),
    limitInMs: options.config.maxAutoLockRenewalDurationInMs,
    renew: () => delivery.renewLockUntil(),
    onError: (error) => log('warning', `Renewing the lock of ${delivery} failed: ${error.message}`),
  });
  await dispatch([delivery], firingOf(message, options.trigger), options, log, stopRenewing);
}
