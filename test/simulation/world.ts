import type { RetryPolicy } from '../../functions/core/rules/policy.ts';
import { Namespace } from '../../local/broker/model/namespace.ts';
import type { Queue } from '../../local/broker/model/queue.ts';
import { defaultQueueSettings, type QueueSettings } from '../../local/broker/model/queue-settings.ts';
import type { Act } from './acts.ts';
import { Chance } from './chance.ts';
import { EffectWatch } from './effect-watch.ts';
import { Instance } from './instance.ts';
import { MemoryTable } from './memory-table.ts';
import { QUEUE, type SimulatedContent, simulated } from './message.ts';
import { MessageWatch } from './message-watch.ts';
import type { Mistake } from './mistakes.ts';
import { Timeline } from './timeline.ts';
import type { Trouble } from './trouble.ts';
import { Verdicts } from './verdicts.ts';

/** 2026-01-05T12:00:00Z: when every world begins. */
export const NOON_UTC = Date.UTC(2026, 0, 5, 12);

/** A version of the consumer. */
export interface Build {
  readonly name: string;
  readonly policy: RetryPolicy;
  /** Whether the event names itself, in its body; by MessageId where not. */
  readonly readsOwnId: boolean;
}

export interface WorldOptions {
  readonly seed: number;
  readonly build: Build;
  readonly queue: Partial<QueueSettings>;
  readonly trouble: Trouble;
  /** What the handler does in the n-th call of an event, counted from 1. */
  act(eventId: string, call: number): Act;
  readonly mistake?: Mistake | undefined;
  readonly isTraced?: boolean | undefined;
  /** Deliveries that an instance takes at the same time. */
  readonly slots?: number;
  /** How far the store's clock is ahead of the broker's. */
  readonly storeSkewInMs?: number;
  /** How far the clocks of instances may be off, either way. */
  readonly skewInMs?: number;
  /** How long a delivery takes to arrive, at most: longer than the next one's is how they overtake each other. */
  readonly arrivalInMs?: number;
  /** How long after its death an instance is replaced, in ms; 0 for never. */
  readonly restartInMs?: number;
  /** For very many events: forgets what has ended well, and does not look through the queue at each step. */
  readonly forgetsCompleted?: boolean;
  readonly mostSteps?: number;
  /** How long the host renews a lock and lets a function run. */
  readonly budgetInMs?: number;
  /** An event has been recorded as completed. */
  completed?(eventId: string): void;
}

/** More steps than any life takes that ends. */
const MOST_STEPS = 20_000;

/** A queue, a table, the instances of a consumer and what is done to them, on one virtual clock. */
export class World {
  readonly options: WorldOptions;
  readonly chance: Chance;
  readonly timeline = new Timeline(NOON_UTC);
  readonly namespace: Namespace;
  readonly queue: Queue;
  readonly deadLetters: Queue;
  readonly table: MemoryTable;
  readonly verdicts = new Verdicts();
  readonly effects: EffectWatch;
  readonly messages: MessageWatch;
  readonly instances: Instance[] = [];
  /** What new instances run. */
  build: Build;
  /** Calls whose requests are under way, of dead processes too. */
  requests = 0;
  /** Things that will be done to this world. */
  planned = 0;
  steps = 0;
  /** What was asked of the broker: messages received, sent and settled, locks renewed. */
  brokerOperations = 0;
  #started = 0;
  #isDispatching = false;

  constructor(options: WorldOptions) {
    this.options = options;
    this.build = options.build;
    this.chance = new Chance(options.seed);
    this.namespace = new Namespace({
      clock: { now: () => this.timeline.nowUtc },
      queues: new Map([
        [
          QUEUE,
          {
            ...defaultQueueSettings,
            deadLetteringOnMessageExpiration: true,
            maxSizeInBytes: Infinity,
            ...options.queue,
          },
        ],
      ]),
    });
    this.queue = this.namespace.queue(QUEUE);
    this.deadLetters = this.namespace.queue(`${QUEUE}/$DeadLetterQueue`);
    this.effects = new EffectWatch(this);
    this.messages = new MessageWatch(this);
    this.table = new MemoryTable((columns, etag) => this.effects.written(columns, etag));
    this.queue.watch(() => this.dispatchSoon());
  }

  get isTraced(): boolean {
    return this.options.isTraced === true;
  }

  /** The store's clock. */
  storeUtc(): number {
    return this.timeline.nowUtc + (this.options.storeSkewInMs ?? 0);
  }

  /** Writes a line of the trace. Callers ask `isTraced` first. */
  trace(line: string): void {
    const atInMs = this.timeline.nowUtc - NOON_UTC;
    this.verdicts.trace.push(`${(atInMs / 1_000).toFixed(3).padStart(10)}  ${line}`);
  }

  /** Does something later that this world must not end before. */
  plan(delayInMs: number, act: () => void): void {
    this.planned++;
    this.timeline.in(delayInMs, () => {
      this.planned--;
      act();
    });
  }

  startInstance(): Instance {
    const { skewInMs = 0, slots = 1 } = this.options;
    const skew = skewInMs > 0 ? this.chance.between(-skewInMs, skewInMs) : 0;
    const instance = new Instance(this, `${this.build.name}${++this.#started}`, this.build, skew, slots);
    if (this.isTraced) this.trace(`${instance.name} starts, its clock ${skew} ms off`);
    this.instances.push(instance);
    this.dispatchSoon();
    return instance;
  }

  /** An instance is gone. */
  ended(instance: Instance): void {
    this.instances.splice(this.instances.indexOf(instance), 1);
    const { restartInMs = 2_000 } = this.options;
    if (restartInMs > 0) this.plan(restartInMs, () => this.startInstance());
  }

  send(content: SimulatedContent, dueUtc?: number): boolean {
    const { kind } = this.queue.send(content, dueUtc);
    if (this.isTraced) this.trace(`the queue takes ${content.messageId} from the ${content.sentBy}: ${kind}`);
    if (kind === 'refused') throw new Error('the queue refused a message');
    return kind !== 'duplicate';
  }

  /** Has some instance with a free slot take the next message. */
  dispatchSoon(): void {
    if (this.#isDispatching) return;
    this.#isDispatching = true;
    this.timeline.in(1, () => {
      this.#isDispatching = false;
      this.#dispatch();
    });
  }

  #dispatch(): void {
    while (this.#dispatchOne());
  }

  /** @returns whether a message was taken */
  #dispatchOne(): boolean {
    const free = this.instances.filter((instance) => instance.canTake());
    const [first, ...others] = free;
    if (!first) return false;
    const instance = others.length > 0 ? this.chance.pick([first, ...others]) : first;
    const received = this.queue.receive();
    if (!received) return false;
    if (this.isTraced) {
      this.trace(
        `${instance.name} receives ${simulated(received.message).messageId} (seq ${received.message.sequenceNumber}, delivery ${received.deliveryCount + 1})`,
      );
    }
    this.brokerOperations++;
    this.messages.delivered(received.message);
    const { arrivalInMs = 0 } = this.options;
    instance.take(received, arrivalInMs > 0 ? this.chance.between(0, arrivalInMs) : 0);
    return true;
  }

  /** Lets the next thing happen. @returns whether there was one, and this world has not ended */
  step(): boolean {
    if (this.isOver()) return false;
    if (++this.steps > (this.options.mostSteps ?? MOST_STEPS)) return this.#stopsWith(`${this.steps} steps and no end`);
    const dueUtc = this.timeline.nextDueUtc();
    const brokerDueUtc = this.timeline.nowUtc + this.namespace.nextDueInMs();
    if (brokerDueUtc === Number.POSITIVE_INFINITY && dueUtc === brokerDueUtc) {
      return this.#stopsWith('nothing will happen any more, and it has not ended');
    }
    if (brokerDueUtc <= dueUtc) {
      this.timeline.nowUtc = brokerDueUtc;
      this.namespace.advance();
    } else {
      this.timeline.runNext();
    }
    return true;
  }

  /** Whether nothing is left to do. */
  isOver(): boolean {
    if (this.planned > 0 || this.requests > 0) return false;
    const { active, scheduled } = this.queue.counts();
    return active + scheduled === 0 && this.instances.every((instance) => instance.isIdle());
  }

  /** Judges the whole life. To be called once, at its end. */
  finish(): Verdicts {
    this.effects.finish();
    this.messages.finish();
    for (const instance of this.instances) instance.dispose();
    return this.verdicts;
  }

  #stopsWith(detail: string): false {
    this.verdicts.violated('does not end', detail);
    return false;
  }
}
