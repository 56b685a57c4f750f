const MINUTE_IN_MS = 60_000;
const DAY_IN_MS = 86_400_000;

/** Smallest and largest permitted value, and how to say so. */
export type Range = { readonly least: number; readonly most: number; readonly text: string };

/** Whose limits apply: the official emulator's, or those of the service's standard tier. */
export type Limits = {
  readonly maxDeliveryCount: Range;
  readonly timeToLiveInMs: Range;
  readonly lockDurationInMs: Range;
  readonly duplicateWindowInMs: Range;
  /** Queues and topics together. */
  readonly entities: number;
};

/** The tiers by name. */
export const TIERS = ['emulator', 'azure'] as const;
export type Tier = (typeof TIERS)[number];

/** Emulator: its own documentation. Azure: the service's quotas and limits. */
export const LIMITS: Record<Tier, Limits> = {
  emulator: {
    maxDeliveryCount: { least: 1, most: 10, text: 'an integer from 1 to 10' },
    timeToLiveInMs: { least: 5 * MINUTE_IN_MS, most: 60 * MINUTE_IN_MS, text: 'a duration from PT5M to PT1H' },
    lockDurationInMs: { least: 5000, most: 5 * MINUTE_IN_MS, text: 'a duration from PT5S to PT5M' },
    duplicateWindowInMs: { least: 5000, most: 5 * MINUTE_IN_MS, text: 'a duration from PT5S to PT5M' },
    entities: 50,
  },
  azure: {
    maxDeliveryCount: { least: 1, most: 2000, text: 'an integer from 1 to 2000' },
    timeToLiveInMs: { least: 1000, most: Number.POSITIVE_INFINITY, text: 'a duration of PT1S or more' },
    lockDurationInMs: { least: 5000, most: 5 * MINUTE_IN_MS, text: 'a duration from PT5S to PT5M' },
    duplicateWindowInMs: { least: 20_000, most: 7 * DAY_IN_MS, text: 'a duration from PT20S to P7D' },
    entities: 10_000,
  },
};
