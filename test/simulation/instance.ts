import { type ServerTime, serverClock } from '../../functions/core/adapters/table-storage/server-clock.ts';
import type { EventConsumer, Invocation } from '../../functions/core/pipeline/event-consumer.ts';
import type { Clock } from '../../functions/core/pipeline/ports.ts';
import { processDelivery } from '../../functions/core/pipeline/process-delivery.ts';
import { type ProcessWide, processWide } from '../../functions/core/pipeline/process-wide.ts';
import type { Delivery as Received } from '../../local/broker/model/outcomes.ts';
import { consumerOf, type Order } from './consumer.ts';
import type { Run } from './effect-watch.ts';
import { deliveryOf, simulated } from './message.ts';
import { portsFor } from './ports.ts';
import { processClock } from './process-clock.ts';
import type { Build, World } from './world.ts';

/** From the stop signal until the host ends its process. */
const STOP_LIMIT_IN_MS = 5_000;
/** From a handler that runs on until its process ends itself, at the latest: as the composition root has it. */
const RECYCLE_LIMIT_IN_MS = 30_000;
/** Renewal of locks by the host, and time for one function, in ms. */
const BUDGET_IN_MS = 60_000;

/** One process of the consumer with its host, which renews locks as long as a function runs. */
export class Instance {
  readonly world: World;
  readonly name: string;
  readonly build: Build;
  readonly clock: Clock;
  readonly processWide: ProcessWide;
  readonly budgetInMs: number;
  readonly #server = serverClock();
  readonly #stopping = new AbortController();
  readonly #consumer: EventConsumer<Order>;
  readonly #slots: number;
  /** Calls of handlers in this process that are not known to be recorded. */
  readonly runs = new Set<Run>();
  isDead = false;
  #inFlight = 0;
  #isLeaving = false;
  #frozenUntilUtc = 0;

  constructor(world: World, name: string, build: Build, skewInMs: number, slots: number) {
    this.world = world;
    this.name = name;
    this.build = build;
    this.#slots = slots;
    this.budgetInMs = world.options.budgetInMs ?? BUDGET_IN_MS;
    this.clock = processClock(this, skewInMs);
    this.processWide = processWide(this.clock);
    this.#consumer = consumerOf(this);
    this.hearServer();
  }

  canTake(): boolean {
    return !this.isDead && !this.#isLeaving && this.#inFlight < this.#slots && !this.isFrozen();
  }

  isIdle(): boolean {
    return this.#inFlight === 0 && !this.#isLeaving;
  }

  isFrozen(): boolean {
    return this.#frozenUntilUtc > this.world.timeline.nowUtc;
  }

  /** An answer of the store told its time. */
  hearServer(): void {
    const atInMs = this.clock.monotonicInMs();
    this.#server.observe(new Date(this.world.storeUtc()).toUTCString(), atInMs, atInMs);
  }

  serverTime(): ServerTime {
    const time = this.#server.at(this.clock.monotonicInMs());
    if (!time) throw new Error('the store has not been heard');
    return time;
  }

  /** Takes a delivery in, and processes it as the composition root would. */
  take(received: Received, arrivesInMs: number): void {
    this.#inFlight++;
    const { timeline } = this.world;
    const { lockToken = '' } = received;
    const delivery = deliveryOf(received.message);
    const { eventId } = simulated(received.message);
    timeline.in(arrivesInMs, () => {
      if (this.isDead) return;
      const startedAtInMs = this.clock.monotonicInMs();
      const renewal = this.#renew(lockToken, startedAtInMs);
      const invocation: Invocation = {
        startedAtInMs,
        budgetInMs: this.budgetInMs,
        stopping: this.#stopping.signal,
        traceparent: undefined,
        log: () => undefined,
      };
      processDelivery(delivery, this.#consumer, portsFor(this, delivery, eventId), invocation).then(
        ({ outcome, reason, stillRuns }) => {
          if (this.isDead) return;
          renewal.isOver = true;
          this.#inFlight--;
          if (this.world.isTraced)
            this.world.trace(`${this.name} ends ${delivery.messageId}: ${outcome}${reason ? ` (${reason})` : ''}`);
          if (stillRuns) this.#recycle();
          this.world.dispatchSoon();
        },
        (error) => this.world.verdicts.violated('throws', error instanceof Error ? String(error.stack) : String(error)),
      );
    });
  }

  /** The host extends the lock at half its length, for as long as the function may run. */
  #renew(lockToken: string, startedAtInMs: number): { isOver: boolean } {
    const { timeline, queue, options } = this.world;
    const renewal = { isOver: false };
    const everyInMs = queue.settings.lockDurationInMs / 2;
    const renew = () => {
      if (renewal.isOver || this.isDead || this.clock.monotonicInMs() - startedAtInMs > this.budgetInMs) return;
      if (!this.isFrozen() && !options.trouble.isDown('settle', timeline.nowUtc)) queue.renew(lockToken);
      this.world.brokerOperations++;
      timeline.in(everyInMs, renew);
    };
    timeline.in(everyInMs, renew);
    return renewal;
  }

  /** Goes on with something, at once or once the process has thawed, unless it has died. */
  resume(go: () => void): void {
    if (this.isDead) return;
    if (this.isFrozen())
      this.world.timeline.in(this.#frozenUntilUtc - this.world.timeline.nowUtc, () => this.resume(go));
    else go();
  }

  /** The process stands still: its machine sleeps, or collects garbage. Its clocks go on. */
  freeze(inMs: number): void {
    if (this.world.isTraced) this.world.trace(`${this.name} freezes for ${inMs} ms`);
    this.#frozenUntilUtc = this.world.timeline.nowUtc + inMs;
    this.world.plan(inMs, () => this.world.dispatchSoon());
  }

  /** A deployment: the host takes no more, and ends the process when it is idle or the limit has passed. */
  stop(): void {
    if (this.isDead || this.#isLeaving) return;
    if (this.world.isTraced) this.world.trace(`${this.name} is told to stop`);
    this.#isLeaving = true;
    this.#stopping.abort();
    this.world.plan(STOP_LIMIT_IN_MS, () => this.die('stopped'));
  }

  #recycle(): void {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    const endsUtc = this.world.timeline.nowUtc + RECYCLE_LIMIT_IN_MS;
    const look = () => {
      if (this.#inFlight === 0 || this.world.timeline.nowUtc >= endsUtc) this.die('to be rid of a handler');
      else this.world.plan(500, look);
    };
    look();
  }

  die(why: string): void {
    if (this.isDead) return;
    if (this.world.isTraced) this.world.trace(`${this.name} DIES ${why}`);
    this.isDead = true;
    this.world.effects.died(this);
    this.dispose();
    this.world.ended(this);
  }

  /** Lets go of what waits in this process: a signal that has listeners is kept for ever. */
  dispose(): void {
    this.isDead = true;
    this.#stopping.abort();
  }
}
