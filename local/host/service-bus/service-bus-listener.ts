import type { ServiceBusReceiver } from '@azure/service-bus';
import type { ServiceBusConfig } from '../host-json.ts';
import type { Firing } from '../invoker.ts';
import type { LogEntry } from '../log-entry.ts';
import type { HeldMessages } from '../settlement/held-messages.ts';
import type { InvocationOutcome } from '../worker-protocol.ts';
import { afterInvocation } from './after-invocation.ts';
import type { HeldDelivery } from './held-delivery.ts';
import type { ServiceBusTrigger } from './trigger.ts';

/** What a listener on an entity needs, whether it takes messages one by one or in batches. */
export interface ListenerOptions {
  readonly functionName: string;
  readonly trigger: ServiceBusTrigger;
  readonly config: ServiceBusConfig;
  readonly receiver: ServiceBusReceiver;
  readonly held: HeldMessages;
  readonly invoke: (firing: Firing) => Promise<InvocationOutcome>;
  readonly onLog: (entry: LogEntry) => void;
}

export type WriteLog = (level: LogEntry['level'], message: string) => void;

export function writeLogOf({ onLog, functionName }: ListenerOptions): WriteLog {
  return (level, message) => onLog({ level, category: 'Host.Triggers.ServiceBus', message, functionName });
}

/** Does with one message what the host does after its invocation. Never rejects: what fails is left to the lock. */
export async function settleAfterwards(
  delivery: HeldDelivery,
  failed: boolean,
  options: ListenerOptions,
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
