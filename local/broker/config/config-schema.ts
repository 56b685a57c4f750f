import { z } from 'zod';
import { defaultRule } from '../model/filter/rule.ts';
import { defaultQueueSettings } from '../model/queue-settings.ts';
import { childName, duration, entityName, flag, integer, leaf, optionalText } from './leaf.ts';
import { ruleSchema } from './rule-schema.ts';
import { LIMITS, type Tier } from './tier.ts';

const DEFAULT_DUPLICATE_WINDOW_IN_MS = 20_000;

/** The shape of the emulator's Config.json, with the ranges that the tier permits. Its messages say what was expected. */
export function configSchema(tier: Tier) {
  const limits = LIMITS[tier];
  const timeToLive = duration(limits.timeToLiveInMs, defaultQueueSettings.defaultTimeToLiveInMs);
  const receiving = {
    DeadLetteringOnMessageExpiration: flag(),
    DefaultMessageTimeToLive: timeToLive,
    LockDuration: duration(limits.lockDurationInMs, defaultQueueSettings.lockDurationInMs),
    MaxDeliveryCount: integer(limits.maxDeliveryCount, defaultQueueSettings.maxDeliveryCount),
    ForwardTo: optionalText(),
    ForwardDeadLetteredMessagesTo: optionalText(),
    RequiresSession: flag(),
  };
  const sending = {
    DuplicateDetectionHistoryTimeWindow: duration(limits.duplicateWindowInMs, DEFAULT_DUPLICATE_WINDOW_IN_MS),
    RequiresDuplicateDetection: flag(),
  };
  const queue = z.strictObject({
    Name: entityName(),
    Properties: z.strictObject({ ...receiving, ...sending }).prefault({}),
  });
  const subscription = z.strictObject({
    Name: childName(),
    Properties: z.strictObject(receiving).prefault({}),
    Rules: z
      .array(ruleSchema)
      .optional()
      .transform((rules) => (rules?.length ? rules : [defaultRule])),
  });
  const topic = z.strictObject({
    Name: entityName(),
    Properties: z.strictObject({ DefaultMessageTimeToLive: timeToLive, ...sending }).prefault({}),
    Subscriptions: z.array(subscription).min(1, 'at least one subscription').prefault([]),
  });
  const namespace = z.strictObject({
    Name: namespaceName(tier),
    Queues: z.array(queue).prefault([]),
    Topics: z.array(topic).prefault([]),
  });
  const namespaces = z.array(namespace).min(1, 'one namespace').max(1, 'one namespace');
  return z.strictObject({ UserConfig: z.strictObject({ Namespaces: namespaces, Logging: z.unknown().optional() }) });
}

/** The emulator has one namespace, whose name is given; the service's are named by whoever makes them. */
function namespaceName(tier: Tier) {
  if (tier === 'emulator') return leaf('"sbemulatorns"', (value) => (value === 'sbemulatorns' ? value : undefined));
  return leaf('a name of 6 to 50 letters, digits and -', (value) =>
    typeof value === 'string' && /^[A-Za-z][A-Za-z0-9-]{5,49}$/.test(value) ? value : undefined,
  );
}

/** What the schema makes of a file. */
export type Config = z.infer<ReturnType<typeof configSchema>>;
export type NamespaceConfig = Config['UserConfig']['Namespaces'][number];
