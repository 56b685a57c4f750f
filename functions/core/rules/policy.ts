/** How delays grow from attempt to attempt. */
export const CURVES = ['exponential', 'linear', 'list'] as const;
/** How delays spread. */
export const JITTERS = ['none', 'full', 'equal', 'decorrelated'] as const;

/**
 * One of an event's own classification rules. The most specific match wins, in whatever order they stand: code, then
 * status, then class by its name (a derived class before its base), then predicate; of several predicates that hold,
 * one that says `permanent`, else the first.
 */
export interface PolicyRule {
  readonly when:
    | { readonly code: string }
    | { readonly status: number }
    | { readonly name: string }
    | {
        /** Asked of each error in the chain; where it throws, the rule does not hold. */
        readonly matches: (error: unknown) => boolean;
      };
  /** `permanent` takes a reason code for the dead letter. */
  readonly is: 'transient' | { readonly permanent: string };
}

/**
 * How an event is retried. In-process retry (`tries`) and delayed redelivery (`attempts`) are two layers of it, and
 * they multiply: tries x attempts = calls of the handler. Every field but `rules` and `secrets` can be overridden by a setting,
 * `RETRY__<EVENT>__<FIELD>` (`RETRY__ORDER_PLACED__BASE_DELAY_IN_MS`).
 */
export interface RetryPolicy {
  /** Passes of an event through the handler, across copies; 1 to 1,000. 1 means: never redeliver. */
  readonly attempts: number;
  /** Delay before the second attempt, >= 1,000 ms. */
  readonly baseDelayInMs: number;
  /** What each further delay grows by, >= 1; exponential curve only. */
  readonly multiplier: number;
  /** Longest delay in ms; applied after jitter. `Retry-After` beats it, the window does not yield to it. */
  readonly capInMs: number;
  readonly curve: (typeof CURVES)[number];
  /** The delays themselves, for the curve `list`; the last one repeats. */
  readonly delaysInMs: readonly number[];
  readonly jitter: (typeof JITTERS)[number];
  /** The retry window: longest time between the first enqueue and the last attempt, in ms. */
  readonly windowInMs: number;
  /** Calls of the handler inside one attempt, >= 1; keep them few and short. */
  readonly tries: number;
  /** Pauses between tries, in ms; the last one repeats. */
  readonly tryDelaysInMs: readonly number[];
  /** The longest a handler may take for one attempt, all its tries included, in ms. */
  readonly handlerTimeoutInMs: number;
  /** Deliveries of one attempt that may end without an outcome before the message is `PoisonMessage`, >= 1. */
  readonly crashLimit: number;
  /** Deferrals of one event before its deliveries are left to their locks. */
  readonly deferralLimit: number;
  /** What an error is that no rule knows. */
  readonly unclassified: 'permanent' | 'transient';
  /** `strict` refuses session entities until ordered redelivery exists; `none` declares that order does not matter. */
  readonly ordering: 'strict' | 'none';
  /** `off` for a handler that is idempotent by nature: nothing is stored, and every delivery runs. */
  readonly ledger: 'on' | 'off';
  readonly rules: readonly PolicyRule[];
  /** What else is secret in error texts, besides `redact`'s own list: each match is replaced whole. */
  readonly secrets?: readonly RegExp[];
  /** The queue's own lock duration, in ms: up to 5 minutes. */
  readonly lockDurationInMs: number;
  /** The queue's own MaxDeliveryCount. */
  readonly maxDeliveryCount: number;
  /** The queue's own default time to live, in ms, or the least where it has another in each place. */
  readonly timeToLiveInMs: number;
  /**
   * The longest outage, in ms, in which no message may run out of deliveries: one whose copy cannot be sent is held as
   * long as its lock is renewed, and then costs a delivery.
   */
  readonly outageInMs: number;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** What a policy holds where an event's own says nothing. */
export const DEFAULT_POLICY: RetryPolicy = {
  attempts: 5,
  baseDelayInMs: 5 * SECOND,
  multiplier: 2,
  capInMs: 5 * MINUTE,
  curve: 'exponential',
  delaysInMs: [],
  jitter: 'equal',
  windowInMs: 30 * MINUTE,
  tries: 2,
  tryDelaysInMs: [200],
  handlerTimeoutInMs: 30 * SECOND,
  crashLimit: 3,
  deferralLimit: 1_000,
  unclassified: 'permanent',
  ordering: 'strict',
  ledger: 'on',
  rules: [],
  lockDurationInMs: MINUTE,
  maxDeliveryCount: 10,
  timeToLiveInMs: 60 * MINUTE,
  outageInMs: 60 * MINUTE,
};

/** The host's limits that a policy must fit in, both in ms. */
export interface HostLimits {
  readonly functionTimeoutInMs: number;
  readonly maxAutoLockRenewalInMs: number;
}

/** Kept free of the handler before its lock or its function's time can end: to schedule, record and settle. */
export const SETTLE_MARGIN_IN_MS = 5 * SECOND;

const pauses = (policy: RetryPolicy): number => {
  let sum = 0;
  for (let n = 0; n < policy.tries - 1; n++) sum += policy.tryDelaysInMs[n] ?? policy.tryDelaysInMs.at(-1) ?? 0;
  return sum;
};

/** What of a policy contradicts itself, the queue or the host; a sentence each, none where all is well. */
export function contradictions(policy: RetryPolicy, host: HostLimits): string[] {
  const problems: string[] = [];
  const wrong = (what: string) => problems.push(what);
  // For a handler, and as well for a delivery that waits for the store or the broker.
  const handlerRoom = Math.min(host.functionTimeoutInMs, host.maxAutoLockRenewalInMs) - SETTLE_MARGIN_IN_MS;
  if (policy.handlerTimeoutInMs > handlerRoom) {
    wrong(
      `handlerTimeoutInMs ${policy.handlerTimeoutInMs} must be at most ${handlerRoom}: functionTimeout (${host.functionTimeoutInMs}) and maxAutoLockRenewalDuration (${host.maxAutoLockRenewalInMs}), less ${SETTLE_MARGIN_IN_MS} to settle`,
    );
  }
  if (pauses(policy) >= policy.handlerTimeoutInMs) {
    wrong(
      `the pauses between ${policy.tries} tries (${pauses(policy)} ms) must be shorter than handlerTimeoutInMs (${policy.handlerTimeoutInMs})`,
    );
  }
  if (policy.curve === 'list' && policy.delaysInMs.length === 0) wrong('curve list needs delaysInMs');
  if (policy.curve !== 'list' && policy.baseDelayInMs > policy.capInMs) {
    wrong(`baseDelayInMs ${policy.baseDelayInMs} must be at most capInMs ${policy.capInMs}`);
  }
  const ownFirstDelayInMs = policy.curve === 'list' ? (policy.delaysInMs[0] ?? 0) : policy.baseDelayInMs;
  const firstDelayInMs = Math.min(ownFirstDelayInMs, policy.capInMs);
  if (policy.attempts > 1 && firstDelayInMs > policy.windowInMs) {
    wrong(
      `the first delay (${firstDelayInMs} ms) must be at most windowInMs ${policy.windowInMs}, or no redelivery can ever happen`,
    );
  }
  if (policy.windowInMs > policy.timeToLiveInMs) {
    wrong(
      `windowInMs ${policy.windowInMs} must be at most the queue's timeToLiveInMs ${policy.timeToLiveInMs}: a copy must not expire inside its retry window`,
    );
  }
  if (policy.maxDeliveryCount < policy.crashLimit + 2) {
    wrong(
      `maxDeliveryCount ${policy.maxDeliveryCount} must be at least crashLimit + 2 (${policy.crashLimit + 2}), or the broker dead-letters without a reason`,
    );
  }
  // The last delivery does not count: where it is to run the handler, the message is dead-lettered instead.
  const survivedInMs = (policy.maxDeliveryCount - 1) * handlerRoom;
  if (survivedInMs < policy.outageInMs) {
    wrong(
      `outageInMs ${policy.outageInMs} must be at most ${survivedInMs}: maxDeliveryCount (${policy.maxDeliveryCount}) less one, times the ${handlerRoom} ms that functionTimeout and maxAutoLockRenewalDuration let a delivery wait; else messages run out of deliveries in an outage`,
    );
  }
  return problems;
}
