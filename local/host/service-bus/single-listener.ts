import type { ProcessErrorArgs, ServiceBusReceivedMessage, ServiceBusReceiver } from '@azure/service-bus';
import type { ServiceBusConfig } from '../host-json.ts';
import type { Firing } from '../invoker.ts';
import type { LogEntry } from '../log-entry.ts';
import type { HeldMessages } from '../settlement/held-messages.ts';
import type { InvocationOutcome } from '../worker-protocol.ts';
import { afterInvocation } from './after-invocation.ts';
import { firingOf } from './firing.ts';
import { HeldDelivery } from './held-delivery.ts';
import { keepLockRenewed } from './lock-renewal.ts';
import { Slots } from './slots.ts';
import type { ServiceBusTrigger } from './trigger.ts';

export interface ListenerOptions {
  readonly functionName: string;
  readonly trigger: ServiceBusTrigger;
  readonly config: ServiceBusConfig;
  readonly receiver: ServiceBusReceiver;
  readonly held: HeldMessages;
  readonly invoke: (firing: Firing) => Promise<InvocationOutcome>;
  readonly onLog: (entry: LogEntry) => void;
}

/** What takes messages from one entity for one function. */
export interface Listener {
  /** Takes no further message; what arrives all the same is abandoned. */
  stopReceiving(): Promise<void>;
  /** Resolves when every message taken so far has been dealt with. */
  idle(): Promise<void>;
}

/** One message an invocation, up to maxConcurrentCalls at a time, each lock renewed while it runs. */
export function startSingleListener(options: ListenerOptions): Listener {
  const { config, receiver, functionName } = options;
  const slots = new Slots(config.maxConcurrentCalls);
  let receiving = true;

  const log = (level: LogEntry['level'], message: string) =>
    options.onLog({ level, category: 'Host.Triggers.ServiceBus', message, functionName });

  const subscription = receiver.subscribe(
    {
      processMessage: async (message) => {
        const delivery = new HeldDelivery(message, receiver);
        // A prefetched message waits here with its lock running, as it does in the real one.
        await slots.use(() => (receiving ? dispatch(delivery, options, log) : abandonLate(delivery, log)));
      },
      processError: async ({ error, errorSource }: ProcessErrorArgs) =>
        log(
          'error',
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

async function dispatch(delivery: HeldDelivery, options: ListenerOptions, log: LogLine): Promise<void> {
  const { message } = delivery;
  const lockToken = message.lockToken ?? '';
  const stopRenewing = keepLockRenewed({
    lockedUntilUtc: message.lockedUntilUtc ?? new Date(),
    limitInMs: options.config.maxAutoLockRenewalDurationInMs,
    renew: () => delivery.renewLockUntil(),
    onError: (error) => log('warning', `Renewing the lock of ${describe(message)} failed: ${error.message}`),
  });
  options.held.hold(lockToken, delivery);
  try {
    const outcome = await options.invoke(firingOf(message, options.trigger));
    stopRenewing();
    await finish(delivery, outcome.kind === 'failed', options, log);
  } finally {
    stopRenewing();
    options.held.forget(lockToken);
  }
}

async function finish(delivery: HeldDelivery, failed: boolean, options: ListenerOptions, log: LogLine): Promise<void> {
  const autoComplete = options.trigger.autoCompleteMessages ?? options.config.autoCompleteMessages;
  try {
    switch (afterInvocation({ failed, settled: delivery.settled, autoComplete })) {
      case 'nothing':
        return;
      case 'abandon':
        return await delivery.abandon();
      case 'complete':
        return await delivery.complete();
      case 'leaveToLock':
        return delivery.leave();
    }
  } catch (error) {
    log('error', `Settling ${describe(delivery.message)} after its invocation failed: ${(error as Error).message}`);
    delivery.leave();
  }
}

async function abandonLate(delivery: HeldDelivery, log: LogLine): Promise<void> {
  try {
    await delivery.abandon();
  } catch (error) {
    log(
      'warning',
      `Abandoning ${describe(delivery.message)}, which came after the stop, failed: ${(error as Error).message}`,
    );
  }
}

type LogLine = (level: LogEntry['level'], message: string) => void;

function describe(message: ServiceBusReceivedMessage): string {
  return `message ${JSON.stringify(message.messageId)} (sequence number ${message.sequenceNumber})`;
}
