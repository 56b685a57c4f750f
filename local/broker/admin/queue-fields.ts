import { entitySizes, LIMITS, type Tier } from '../config/tier.ts';
import type { Counts } from '../model/outcomes.ts';
import { defaultQueueSettings, type QueueSettings } from '../model/queue-settings.ts';
import {
  durationField,
  durationText,
  flagField,
  integerField,
  pathField,
  statusField,
  timeToLiveField,
} from './fields.ts';
import { ATTRIBUTES, type XmlElement } from './xml.ts';

const BYTES_IN_KILOBYTE = 1024;
const BYTES_IN_MEGABYTE = 1024 * 1024;
const COUNTS = 'http://schemas.microsoft.com/netservices/2011/06/servicebus';
const MEGABYTES = { least: 1, most: 81_920, text: 'an integer from 1 to 81920' };
const ENDLESS = durationText(Number.POSITIVE_INFINITY);

/** What the service takes where a request says nothing, except that the emulator's limits may ask for less. */
function defaults(tier: Tier): QueueSettings {
  return {
    ...defaultQueueSettings,
    maxDeliveryCount: 10,
    defaultTimeToLiveInMs: LIMITS[tier].timeToLiveInMs.most,
    ...entitySizes(tier),
  };
}

/** The window of duplicate detection where a request says nothing. */
export function defaultDuplicateWindow(tier: Tier): string {
  return tier === 'emulator' ? 'PT20S' : 'PT10M';
}

/** The fields of a queue by name, in the order of the service; some are kept and shown, and change nothing here. */
export function queueFields(settings: QueueSettings, tier: Tier): XmlElement {
  const { duplicateDetectionWindowInMs: window } = settings;
  const { MaxSizeInMegabytes, MaxMessageSizeInKilobytes } = sizeFields(settings);
  return {
    LockDuration: durationText(settings.lockDurationInMs),
    MaxSizeInMegabytes,
    RequiresDuplicateDetection: String(window !== undefined),
    RequiresSession: String(settings.requiresSession),
    DefaultMessageTimeToLive: durationText(settings.defaultTimeToLiveInMs),
    DeadLetteringOnMessageExpiration: String(settings.deadLetteringOnMessageExpiration),
    DuplicateDetectionHistoryTimeWindow: window === undefined ? defaultDuplicateWindow(tier) : durationText(window),
    MaxDeliveryCount: String(settings.maxDeliveryCount),
    EnableBatchedOperations: 'true',
    Status: settings.status,
    ForwardTo: settings.forwardTo,
    AutoDeleteOnIdle: ENDLESS,
    EnablePartitioning: 'false',
    ForwardDeadLetteredMessagesTo: settings.forwardDeadLetteredMessagesTo,
    EntityAvailabilityStatus: 'Available',
    EnableExpress: 'false',
    MaxMessageSizeInKilobytes,
  };
}

/** How much an entity takes, at once and in all. */
export function sizeFields({ maxSizeInBytes, maxMessageSizeInBytes }: QueueSettings) {
  return {
    MaxSizeInMegabytes: String(maxSizeInBytes / BYTES_IN_MEGABYTE),
    MaxMessageSizeInKilobytes: String(maxMessageSizeInBytes / BYTES_IN_KILOBYTE),
  };
}

export function defaultQueueFields(tier: Tier): XmlElement {
  return queueFields(defaults(tier), tier);
}

/** The fields of a subscription; see {@link queueFields}. */
export function subscriptionFields(settings: QueueSettings, tier: Tier): XmlElement {
  const queue = queueFields(settings, tier);
  return {
    LockDuration: queue['LockDuration'],
    RequiresSession: queue['RequiresSession'],
    DefaultMessageTimeToLive: queue['DefaultMessageTimeToLive'],
    DeadLetteringOnMessageExpiration: queue['DeadLetteringOnMessageExpiration'],
    DeadLetteringOnFilterEvaluationExceptions: 'true',
    MaxDeliveryCount: queue['MaxDeliveryCount'],
    EnableBatchedOperations: 'true',
    Status: queue['Status'],
    ForwardTo: queue['ForwardTo'],
    ForwardDeadLetteredMessagesTo: queue['ForwardDeadLetteredMessagesTo'],
    AutoDeleteOnIdle: ENDLESS,
    EntityAvailabilityStatus: 'Available',
  };
}

export function defaultSubscriptionFields(tier: Tier): XmlElement {
  return subscriptionFields(defaults(tier), tier);
}

/** @throws AdminError naming the field that cannot be accepted */
export function queueSettingsOf(fields: XmlElement, tier: Tier): QueueSettings {
  return {
    ...subscriptionSettingsOf(fields, tier),
    duplicateDetectionWindowInMs: duplicateWindowOf(fields, tier),
    ...sizesOf(fields, tier),
  };
}

/** @throws AdminError naming the field that cannot be accepted */
export function sizesOf(fields: XmlElement, tier: Tier) {
  const { messageSizeInKilobytes } = LIMITS[tier];
  return {
    maxSizeInBytes: integerField(fields, 'MaxSizeInMegabytes', MEGABYTES) * BYTES_IN_MEGABYTE,
    maxMessageSizeInBytes:
      integerField(fields, 'MaxMessageSizeInKilobytes', messageSizeInKilobytes) * BYTES_IN_KILOBYTE,
  };
}

/** @throws AdminError naming the field that cannot be accepted */
export function subscriptionSettingsOf(fields: XmlElement, tier: Tier): QueueSettings {
  const limits = LIMITS[tier];
  return {
    ...defaults(tier),
    lockDurationInMs: durationField(fields, 'LockDuration', limits.lockDurationInMs),
    maxDeliveryCount: integerField(fields, 'MaxDeliveryCount', limits.maxDeliveryCount),
    defaultTimeToLiveInMs: timeToLiveField(fields, limits.timeToLiveInMs),
    deadLetteringOnMessageExpiration: flagField(fields, 'DeadLetteringOnMessageExpiration'),
    requiresSession: flagField(fields, 'RequiresSession'),
    forwardTo: pathField(fields, 'ForwardTo'),
    forwardDeadLetteredMessagesTo: pathField(fields, 'ForwardDeadLetteredMessagesTo'),
    status: statusField(fields),
  };
}

/** @throws AdminError when the fields cannot be accepted */
export function duplicateWindowOf(fields: XmlElement, tier: Tier): number | undefined {
  const window = durationField(fields, 'DuplicateDetectionHistoryTimeWindow', LIMITS[tier].duplicateWindowInMs);
  return flagField(fields, 'RequiresDuplicateDetection') ? window : undefined;
}

/** Messages by where they stand. Nothing is ever in transfer here: forwarding happens at once. */
export function countDetails(counts: Counts): XmlElement {
  return {
    [ATTRIBUTES]: { 'xmlns:d2p1': COUNTS },
    'd2p1:ActiveMessageCount': String(counts.active),
    'd2p1:DeadLetterMessageCount': String(counts.deadLetter),
    'd2p1:ScheduledMessageCount': String(counts.scheduled),
    'd2p1:TransferMessageCount': '0',
    'd2p1:TransferDeadLetterMessageCount': String(counts.transferDeadLetter),
  };
}

/** How many messages there are, wherever they stand. */
export function messageCount(counts: Counts): string {
  const { active, scheduled, deferred, deadLetter, transferDeadLetter } = counts;
  return String(active + scheduled + deferred + deadLetter + transferDeadLetter);
}
