import { z } from 'zod';
import { defaultQueueSettings } from '../model/queue-settings.ts';
import { durationInMs } from './duration.ts';
import { LIMITS, type Range, type Tier } from './tier.ts';

const ENTITY_NAME = /^[A-Za-z0-9]$|^[A-Za-z0-9][\w./~-]{0,258}[A-Za-z0-9]$/;

/** The shape of the emulator's Config.json, with the ranges that the tier permits. Its messages say what was expected. */
export function configSchema(tier: Tier) {
  const limits = LIMITS[tier];
  const flag = leaf('true or false', (value) => (typeof value === 'boolean' ? value : undefined), false);
  const timeToLive = duration(limits.timeToLiveInMs, defaultQueueSettings.defaultTimeToLiveInMs);
  const duplicateWindow = duration(limits.duplicateWindowInMs, 20_000);
  const receiving = {
    DeadLetteringOnMessageExpiration: flag,
    DefaultMessageTimeToLive: timeToLive,
    LockDuration: duration(limits.lockDurationInMs, defaultQueueSettings.lockDurationInMs),
    MaxDeliveryCount: integer(limits.maxDeliveryCount, defaultQueueSettings.maxDeliveryCount),
    ForwardTo: optionalName(),
    ForwardDeadLetteredMessagesTo: optionalName(),
    RequiresSession: flag,
  };
  const sending = { DuplicateDetectionHistoryTimeWindow: duplicateWindow, RequiresDuplicateDetection: flag };
  const queue = z.strictObject({ Name: name(), Properties: z.strictObject({ ...receiving, ...sending }).prefault({}) });
  const namespace = z.strictObject({
    Name: leaf('"sbemulatorns"', (value) => (value === 'sbemulatorns' ? value : undefined)),
    Queues: z.array(queue).prefault([]),
    Topics: leaf<readonly unknown[]>(
      'no topics: not supported yet',
      (value) => (Array.isArray(value) && value.length === 0 ? value : undefined),
      [],
    ),
  });
  const namespaces = z.array(namespace).min(1, 'one namespace').max(1, 'one namespace');
  return z.strictObject({ UserConfig: z.strictObject({ Namespaces: namespaces, Logging: z.unknown().optional() }) });
}

/** What the schema makes of a file. */
export type Config = z.infer<ReturnType<typeof configSchema>>;

function leaf<T>(expected: string, parse: (value: unknown) => T | undefined, absent?: T) {
  return z
    .unknown()
    .optional()
    .transform((value, context) => {
      const parsed = value === undefined && absent !== undefined ? absent : parse(value);
      if (parsed !== undefined) return parsed;
      context.addIssue({ code: 'custom', message: expected });
      return z.NEVER;
    });
}

function duration({ least, most, text }: Range, absent: number) {
  const parse = (value: unknown) => {
    const milliseconds = typeof value === 'string' ? durationInMs(value) : undefined;
    return milliseconds !== undefined && milliseconds >= least && milliseconds <= most ? milliseconds : undefined;
  };
  return leaf(text, parse, absent);
}

function integer({ least, most, text }: Range, absent: number) {
  const isValid = (value: unknown) => Number.isInteger(value) && Number(value) >= least && Number(value) <= most;
  return leaf(text, (value) => (isValid(value) ? Number(value) : undefined), absent);
}

function name() {
  return leaf('a name of 1 to 260 letters, digits, and . / ~ _ - between them', (value) =>
    typeof value === 'string' && ENTITY_NAME.test(value) ? value : undefined,
  );
}

function optionalName() {
  const parse = (value: unknown) =>
    typeof value === 'string' && (value === '' || ENTITY_NAME.test(value)) ? value : undefined;
  return leaf<string>('the name of an entity, or ""', parse, '');
}
