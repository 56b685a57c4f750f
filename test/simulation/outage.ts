import { DEFAULT_POLICY } from '../../functions/core/rules/policy.ts';
import { readHostLimits } from '../../functions/core/settings.ts';
import { orderBody } from './consumer.ts';
import { firstMessage } from './message.ts';
import { aPolicy } from './policies.ts';
import type { Fate, Target, Trouble } from './trouble.ts';
import type { Violation } from './verdicts.ts';
import { NOON_UTC, World } from './world.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** Before the outage, and in every case after it. */
const CALM_IN_MS = 10 * SECOND;
/** How long the recovery is looked for: what was dead-lettered never comes. */
const LOOKS_FOR_IN_MS = 60 * MINUTE;
/** How much older than a fresh one the oldest message may be for the consumer to have recovered. */
const RECOVERED_LAG_IN_MS = 30 * SECOND;

export interface OutagePlan {
  readonly target: Extract<Target, 'store' | 'send'>;
  readonly lengthInMs: number;
  readonly messagesPerSecond: number;
  /** Share of the events whose first attempt fails for now, so that a copy must be sent. */
  readonly failing: number;
}

export interface OutageReport {
  readonly events: number;
  readonly completed: number;
  readonly deadLetters: number;
  /** In the outage, asked of the broker in a second. */
  readonly brokerOperationsPerSecond: number;
  /** From the end of the outage until what waits is as young as ever. */
  readonly recoveredInMs: number;
  readonly handlerRunsPerEvent: number;
  readonly violations: readonly Violation[];
}

class OneOutage implements Trouble {
  readonly #plan: OutagePlan;

  constructor(plan: OutagePlan) {
    this.#plan = plan;
  }

  fateOf(): Fate {
    return QUICK;
  }

  isDown(target: Target, nowUtc: number): boolean {
    const inMs = nowUtc - NOON_UTC - CALM_IN_MS;
    return target === this.#plan.target && inMs >= 0 && inMs < this.#plan.lengthInMs;
  }
}

const QUICK: Fate = { requestInMs: 2, replyInMs: 0 };

/** Messages that come in all the while, an outage, and what comes of both. */
export class OutageScene {
  readonly world: World;
  readonly #plan: OutagePlan;
  readonly #endsUtc: number;
  readonly #events: number;
  readonly #sentUtc = new Map<string, number>();
  #completed = 0;
  #runs = 0;
  #operations = { atStart: 0, atEnd: 0 };
  #recoveredUtc: number | undefined;

  constructor(plan: OutagePlan) {
    this.#plan = plan;
    this.#endsUtc = NOON_UTC + CALM_IN_MS + plan.lengthInMs;
    this.#events = Math.round(((CALM_IN_MS * 2 + plan.lengthInMs) / SECOND) * plan.messagesPerSecond);
    const { functionTimeoutInMs, maxAutoLockRenewalInMs } = readHostLimits({}, []);
    const { lockDurationInMs, maxDeliveryCount } = DEFAULT_POLICY;
    this.world = new World({
      seed: 1,
      build: {
        name: 'A',
        policy: aPolicy({
          attempts: 5,
          baseDelayInMs: 5 * SECOND,
          lockDurationInMs,
          maxDeliveryCount,
          // A message that has waited through the outage may still fail for now, and then wants another attempt.
          windowInMs: 4 * plan.lengthInMs,
        }),
        readsOwnId: false,
      },
      queue: {
        lockDurationInMs,
        maxDeliveryCount,
        defaultTimeToLiveInMs: 14 * 24 * 60 * MINUTE,
        duplicateDetectionWindowInMs: 10 * MINUTE,
      },
      trouble: new OneOutage(plan),
      act: (eventId, call) => {
        this.#runs++;
        return call === 1 && this.#isFailing(eventId) ? 'fails for now' : 'succeeds';
      },
      slots: 16,
      forgetsCompleted: true,
      mostSteps: Number.POSITIVE_INFINITY,
      budgetInMs: Math.min(functionTimeoutInMs, maxAutoLockRenewalInMs),
      completed: (eventId) => {
        this.#completed++;
        this.#sentUtc.delete(eventId);
      },
    });
    for (let n = 0; n < 3; n++) this.world.startInstance();
    this.#publish(1);
    this.world.plan(CALM_IN_MS, () => {
      this.#operations.atStart = this.world.brokerOperations;
    });
    this.world.plan(CALM_IN_MS + plan.lengthInMs, () => {
      this.#operations.atEnd = this.world.brokerOperations;
      this.#lookForRecovery();
    });
  }

  #isFailing(eventId: string): boolean {
    return Number(eventId.slice(1)) % Math.round(1 / this.#plan.failing) === 0;
  }

  #publish(n: number): void {
    const { world } = this;
    const eventId = `e${n}`;
    world.messages.produced(eventId);
    this.#sentUtc.set(eventId, world.timeline.nowUtc);
    world.send(firstMessage(eventId, eventId, orderBody(eventId), world.timeline.nowUtc, undefined));
    if (n < this.#events) world.plan(SECOND / this.#plan.messagesPerSecond, () => this.#publish(n + 1));
  }

  #lookForRecovery(): void {
    const { nowUtc } = this.world.timeline;
    // In the order of sending, so the first is the oldest.
    const oldestUtc = this.#sentUtc.values().next().value ?? nowUtc;
    if (nowUtc - oldestUtc <= RECOVERED_LAG_IN_MS) this.#recoveredUtc = nowUtc;
    else if (nowUtc < this.#endsUtc + LOOKS_FOR_IN_MS) this.world.plan(SECOND, () => this.#lookForRecovery());
  }

  report(): OutageReport {
    const { world } = this;
    const { violations } = world.finish();
    const { atStart, atEnd } = this.#operations;
    return {
      events: this.#events,
      completed: this.#completed,
      deadLetters: world.deadLetters.counts().active,
      brokerOperationsPerSecond: ((atEnd - atStart) / this.#plan.lengthInMs) * SECOND,
      recoveredInMs: (this.#recoveredUtc ?? Number.POSITIVE_INFINITY) - this.#endsUtc,
      handlerRunsPerEvent: this.#runs / this.#events,
      violations,
    };
  }
}
