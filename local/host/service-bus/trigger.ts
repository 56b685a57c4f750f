import { type Connection, resolveConnection, resolveReferences, type Settings } from '../setting-reference.ts';
import type { Binding, FunctionMetadata } from '../worker-protocol.ts';

/** The options of one serviceBusTrigger, with settings resolved. */
export interface ServiceBusTrigger {
  readonly entity:
    | { readonly kind: 'queue'; readonly queueName: string }
    | { readonly kind: 'subscription'; readonly topicName: string; readonly subscriptionName: string };
  readonly connection: Connection;
  /** What the trigger says itself; undefined leaves it to host.json. */
  readonly autoCompleteMessages: boolean | undefined;
  readonly isBatch: boolean;
  readonly isSessionsEnabled: boolean;
  /** Whether the app gets the message itself (`sdkBinding: true`) or only its body. */
  readonly isDeferredBinding: boolean;
  readonly bodyAs: 'string' | 'binary';
}

/**
 * Reads the trigger of a function.
 *
 * @throws Error with one line that names the function, what is missing or cannot be served here.
 */
export function readServiceBusTrigger(
  target: FunctionMetadata,
  binding: Binding,
  settings: Settings,
): ServiceBusTrigger {
  const where = `The trigger of function "${target.name}"`;
  return {
    entity: entityOf(binding, settings, where),
    connection: resolveConnection(textOf(binding, 'connection') ?? 'ServiceBus', settings, where),
    autoCompleteMessages:
      typeof binding['autoCompleteMessages'] === 'boolean' ? binding['autoCompleteMessages'] : undefined,
    isBatch: textOf(binding, 'cardinality')?.toLowerCase() === 'many',
    isSessionsEnabled: binding['isSessionsEnabled'] === true,
    isDeferredBinding: binding.properties?.supportsDeferredBinding === 'true',
    bodyAs: textOf(binding, 'dataType')?.toLowerCase() === 'binary' ? 'binary' : 'string',
  };
}

function entityOf(binding: Binding, settings: Settings, where: string): ServiceBusTrigger['entity'] {
  const resolved = (option: string) => {
    const text = textOf(binding, option);
    return text === undefined ? undefined : resolveReferences(text, settings, `${where}, ${option},`);
  };
  const queueName = resolved('queueName');
  if (queueName) return { kind: 'queue', queueName };
  const topicName = resolved('topicName');
  const subscriptionName = resolved('subscriptionName');
  if (topicName && subscriptionName) return { kind: 'subscription', topicName, subscriptionName };
  throw new Error(`${where} names no entity. Expected queueName, or topicName and subscriptionName.`);
}

function textOf(binding: Binding, option: string): string | undefined {
  const value = binding[option];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
