import type { ServiceBusReceiver } from '@azure/service-bus';
import type { ServiceBusConfig } from '../host-json.ts';
import type { Firing } from '../invoker.ts';
import type { LogEntry } from '../log-entry.ts';
import type { HeldMessages } from '../settlement/held-messages.ts';
import type { InvocationOutcome } from '../worker-protocol.ts';
import { afterInvocation } from './after-invocation.ts';
import type { HeldDelivery } from './held-delivery.ts';
import type { ServiceBusTrigger } from './trigger.ts';

/** What each listener on an entity needs. */
export interface DispatchOptions {
  readonly functionName: string;
  readonly trigger: ServiceBusTrigger;
  readonly config: ServiceBusConfig;
  readonly held: HeldMessages;
  readonly invoke: (firing: Firing) => Promise<InvocationOutcome>;
  readonly onLog: (entry: LogEntry) => void;
}

/** What a listener on an entity without sessions needs, whether it takes messages one by one or in batches. */
export interface ListenerOptions extends DispatchOptions {
  readonly receiver: ServiceBusReceiver;
}

/**
 * How long one request waits for more after its first message, in ms, as in .NET; the SDK waits 1000. Its types do not
 * know the option, its implementation lets it through: locks run meanwhile, and nobody renews them.
 */
export const GATHERING = { maxTimeAfterFirstMessageInMs: 20 };
/** How long to wait after a request has failed, in ms. */
export const ERROR_PAUSE_IN_MS = 1_000;

export type WriteLog = (level: LogEntry['level'], message: string) => void;

export function writeLogOf({ onLog, functionName }: DispatchOptions): WriteLog {
  return (level, message) => onLog({ level, category: 'Host.Triggers.ServiceBus', message, functionName });
}

/**
 * Runs the function on one message, or on several at once, and does afterwards what the host does. Never rejects.
 *
 * @param whenEnded called between the two
 */
export async function dispatch(
  deliveries: readonly HeldDelivery[],
  firing: Firing,
  options: DispatchOptions,
  log: WriteLog,
  whenEnded: () => void = () => undefined,
): Promise<void> {
  for (const delivery of deliveries) options.held.hold(delivery.lockToken, delivery);
  try {
    const outcome = await options.invoke(firing).finally(whenEnded);
    const failed = outcome.kind === 'failed';
    await Promise.all(deliveries.map((delivery) => settleAfterwards(delivery, failed, options, log)));
  } finally {
    for (const delivery of deliveries) options.held.forget(delivery.lockToken);
  }
}

/** Does with one message what the host does after its invocation. Never rejects: what fails is left to the lock. */
export async function settleAfterwards(
  delivery: HeldDelivery,
  failed: boolean,
  options: DispatchOptions,
  log: WriteLog,
): Promise<void> {
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
    log('error', `Settling ${delivery} after its invocation failed: ${(error as Error).message}`);
    delivery.leave();
  }
}

/** Waits for so long, or until it is aborted. */
export function pause(inMs: number, stopped: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      stopped.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, inMs);
    stopped.addEventListener('abort', end);
    if (stopped.aborted) end();
  });
}
