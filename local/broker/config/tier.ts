const MINUTE_IN_MS = 60_000;
const DAY_IN_MS = 86_400_000;

/** Smallest and largest permitted value, and how to say so. */
export type Range = { readonly least: number; readonly most: number; readonly text: string };

/** Whose limits apply: the official emulator's, or those of a tier of the service. */
export type Limits = {
  readonly maxDeliveryCount: Range;
  readonly timeToLiveInMs: Range;
  readonly lockDurationInMs: Range;
  readonly duplicateWindowInMs: Range;
  /** The most that an entity may ask for; the least is what one has that asks for nothing. */
  readonly messageSizeInKilobytes: Range;
  /** What an entity may hold that asks for nothing. */
  readonly entitySizeInMegabytes: number;
  /** Queues and topics together. */
  readonly entities: number;
};

/** The tiers by name; `azure` is the standard tier. */
export const TIERS = ['emulator', 'azure', 'premium'] as const;
export type Tier = (typeof TIERS)[number];

const standard: Limits = {
  maxDeliveryCount: { least: 1, most: 2000, text: 'an integer from 1 to 2000' },
  timeToLiveInMs: { least: 1000, most: Number.POSITIVE_INFINITY, text: 'a duration of PT1S or more' },
  lockDurationInMs: { least: 5000, most: 5 * MINUTE_IN_MS, text: 'a duration from PT5S to PT5M' },
  duplicateWindowInMs: { least: 20_000, most: 7 * DAY_IN_MS, text: 'a duration from PT20S to P7D' },
  messageSizeInKilobytes: { least: 256, most: 256, text: '256, which only the premium tier exceeds' },
  entitySizeInMegabytes: 1024,
  entities: 10_000,
};

/** Emulator: its own documentation. The others: the service's quotas and limits. */
export const LIMITS: Record<Tier, Limits> = {
  emulator: {
    maxDeliveryCount: { least: 1, most: 10, text: 'an integer from 1 to 10' },
    timeToLiveInMs: { least: 5 * MINUTE_IN_MS, most: 60 * MINUTE_IN_MS, text: 'a duration from PT5M to PT1H' },
    lockDurationInMs: { least: 5000, most: 5 * MINUTE_IN_MS, text: 'a duration from PT5S to PT5M' },
    duplicateWindowInMs: { least: 5000, most: 5 * MINUTE_IN_MS, text: 'a duration from PT5S to PT5M' },
    messageSizeInKilobytes: standard.messageSizeInKilobytes,
    entitySizeInMegabytes: 100,
    entities: 50,
  },
  azure: standard,
  premium: {
    ...standard,
    messageSizeInKilobytes: { least: 1024, most: 102_400, text: 'an integer from 1024 to 102400' },
  },
};

/** How much an entity takes that asks for nothing. */
export function entitySizes(tier: Tier): { readonly maxMessageSizeInBytes: number; readonly maxSizeInBytes: number } {
  const { messageSizeInKilobytes, entitySizeInMegabytes } = LIMITS[tier];
  return {
    maxMessageSizeInBytes: messageSizeInKilobytes.least * 1024,
    maxSizeInBytes: entitySizeInMegabytes * 1024 * 1024,
  };
}
