import { entitySizes, LIMITS, type Tier } from '../config/tier.ts';
import { defaultQueueSettings } from '../model/queue-settings.ts';
import type { TopicSettings } from '../model/topic.ts';
import { durationText, statusField, timeToLiveField } from './fields.ts';
import { defaultDuplicateWindow, duplicateWindowOf, sizeFields, sizesOf } from './queue-fields.ts';
import type { XmlElement } from './xml.ts';

/** What a request can say of a topic. */
export type OwnTopicSettings = Omit<TopicSettings, 'subscriptions'>;

/** The fields of a topic by name, in the order of the service; some are kept and shown, and change nothing here. */
export function topicFields(settings: OwnTopicSettings, tier: Tier): XmlElement {
  const { duplicateDetectionWindowInMs: window } = settings;
  const { MaxSizeInMegabytes, MaxMessageSizeInKilobytes } = sizeFields({ ...defaultQueueSettings, ...settings });
  return {
    DefaultMessageTimeToLive: durationText(settings.defaultTimeToLiveInMs),
    MaxSizeInMegabytes,
    RequiresDuplicateDetection: String(window !== undefined),
    DuplicateDetectionHistoryTimeWindow: window === undefined ? defaultDuplicateWindow(tier) : durationText(window),
    EnableBatchedOperations: 'true',
    Status: settings.status ?? 'Active',
    SupportOrdering: 'true',
    AutoDeleteOnIdle: durationText(Number.POSITIVE_INFINITY),
    EnablePartitioning: 'false',
    EntityAvailabilityStatus: 'Available',
    EnableExpress: 'false',
    MaxMessageSizeInKilobytes,
  };
}

export function defaultTopicFields(tier: Tier): XmlElement {
  const defaultTimeToLiveInMs = LIMITS[tier].timeToLiveInMs.most;
  return topicFields({ defaultTimeToLiveInMs, duplicateDetectionWindowInMs: undefined, ...entitySizes(tier) }, tier);
}

/** @throws AdminError naming the field that cannot be accepted */
export function topicSettingsOf(fields: XmlElement, tier: Tier): OwnTopicSettings {
  return {
    defaultTimeToLiveInMs: timeToLiveField(fields, LIMITS[tier].timeToLiveInMs),
    duplicateDetectionWindowInMs: duplicateWindowOf(fields, tier),
    ...sizesOf(fields, tier),
    status: statusField(fields),
  };
}
