import type { Columns } from '../../functions/core/adapters/table-storage/table-store.ts';
import type { HandlerContext } from '../../functions/core/rules/handler.ts';
import { SETTLE_MARGIN_IN_MS } from '../../functions/core/rules/policy.ts';
import type { Instance } from './instance.ts';
import type { Target } from './trouble.ts';
import type { World } from './world.ts';

/** One call of the handler. */
export interface Run {
  readonly eventId: string;
  readonly lockToken: string;
  readonly instance: Instance;
  readonly deadlineUtc: number;
  /** End of the lease that it runs under, on the store's clock. */
  readonly leaseEndUtc: number;
  isRunning: boolean;
  hasEffect: boolean;
  isRecorded: boolean;
  end: 'returned' | 'threw' | undefined;
  /** The fault that excuses an effect without a record. */
  excuse: string | undefined;
}

/** An event as its effects show it. */
interface Life {
  readonly runs: Run[];
  idempotencyKey: string | undefined;
  /** The record as it stands. */
  record: Columns | undefined;
  /** Lock token by the version that its delivery wrote. */
  readonly writers: Map<string, string>;
  /** The last attempt whose end is recorded, as (generation, attempt). */
  ended: readonly [number, number] | undefined;
  completedBy: string | undefined;
}

/** Watches the handlers, their effects and the writes to the table, and judges by these alone. */
export class EffectWatch {
  readonly #world: World;
  readonly #lives = new Map<string, Life>();
  readonly #runs = new Map<string, Run[]>();
  readonly #forgotten = new Set<string>();

  constructor(world: World) {
    this.#world = world;
  }

  isCompleted(eventId: string): boolean {
    return this.#forgotten.has(eventId) || this.#lives.get(eventId)?.completedBy !== undefined;
  }

  callsOf(eventId: string): number {
    return this.#lifeOf(eventId).runs.length;
  }

  effectsOf(eventId: string): number {
    return this.#lifeOf(eventId).runs.filter(({ hasEffect }) => hasEffect).length;
  }

  /** Generation of the event's record; 0 where there is none. */
  generationOf(eventId: string): number {
    return Number(this.#lives.get(eventId)?.record?.['generation'] ?? 0);
  }

  starts(instance: Instance, context: HandlerContext): Run {
    const { eventId, attempt, generation, maxAttempts, idempotencyKey, delivery } = context;
    const { verdicts } = this.#world;
    const life = this.#lifeOf(eventId);
    const storeUtc = this.#world.storeUtc();
    const where = `${eventId} (${generation}, ${attempt}) on ${instance.name}`;

    if (attempt > maxAttempts) verdicts.violated('attempt beyond the policy', `${where}: ${maxAttempts} permitted`);
    const { crashLimit, maxDeliveryCount } = instance.build.policy;
    if (Number(life.record?.['takeovers']) >= crashLimit) verdicts.violated('runs past its crash limit', where);
    if (delivery.deliveryCount >= maxDeliveryCount) verdicts.violated('runs in its last delivery', where);
    life.idempotencyKey ??= idempotencyKey;
    if (life.idempotencyKey !== idempotencyKey) verdicts.violated('another idempotency key', where);
    const { record } = life;
    const leaseEndUtc = record?.['leaseEnd'] instanceof Date ? record['leaseEnd'].getTime() : 0;
    if (record?.['owner'] !== delivery.lockToken || leaseEndUtc <= storeUtc)
      verdicts.violated('runs without its lease', where);
    const other = life.runs.find((run) => run.isRunning && run.leaseEndUtc > storeUtc);
    if (other) verdicts.violated('two handlers at once', `${where} while ${other.instance.name} runs it`);
    const [endedGeneration, endedAttempt] = life.ended ?? [-1, 0];
    if ((generation - endedGeneration || attempt - endedAttempt) <= 0) {
      verdicts.violated('runs again after its end', `${where} after (${life.ended})`);
    }

    const run: Run = {
      eventId,
      lockToken: delivery.lockToken,
      instance,
      deadlineUtc: context.deadlineUtc,
      leaseEndUtc,
      isRunning: true,
      hasEffect: false,
      isRecorded: false,
      end: undefined,
      excuse: undefined,
    };
    life.runs.push(run);
    const ofDelivery = this.#runs.get(delivery.lockToken);
    if (ofDelivery) ofDelivery.push(run);
    else this.#runs.set(delivery.lockToken, [run]);
    instance.runs.add(run);
    return run;
  }

  /** The effect has happened; its request may have outlived its process. */
  happens(run: Run): void {
    run.hasEffect = true;
  }

  ends(run: Run, end: 'returned' | 'threw'): void {
    run.isRunning = false;
    run.end = end;
    if (end === 'threw') run.excuse ??= 'its handler failed';
    const lateInMs = run.instance.clock.nowUtc() - run.deadlineUtc;
    if (lateInMs >= SETTLE_MARGIN_IN_MS) run.excuse ??= 'its handler ignored its signal';
  }

  died({ runs }: Instance): void {
    for (const run of runs) {
      run.isRunning = false;
      run.excuse ??= 'its process died';
    }
  }

  callFailed(target: Target, lockToken: string): void {
    if (target !== 'store') return;
    for (const run of this.#runs.get(lockToken) ?? []) run.excuse ??= 'the store did not answer';
  }

  /** A fenced write was refused. */
  overtaken(columns: Columns): void {
    const writer = this.#lifeOf(String(columns['eventId'])).writers.get(String(columns['follows']));
    for (const run of this.#runs.get(writer ?? '') ?? []) {
      if (run.leaseEndUtc <= this.#world.storeUtc()) run.excuse ??= 'its lease had ended';
    }
  }

  /** A write was carried out. */
  written(columns: Columns, etag: string): void {
    const { eventId, kind, owner, follows, generation, attempt } = columns;
    const life = this.#lifeOf(String(eventId));
    life.record = columns;
    const writer = kind === 'inProgress' ? String(owner) : life.writers.get(String(follows));
    if (writer) life.writers.set(etag, writer);
    const place = [Number(generation), Number(attempt)] as const;
    switch (kind) {
      case 'completed':
        life.ended = place;
        this.#completed(life, String(eventId), writer ?? '');
        return;
      case 'deadLettering':
        life.ended = place;
        return;
      case 'scheduled':
      case 'unsent':
        life.ended = [place[0], place[1] - 1];
    }
  }

  #completed(life: Life, eventId: string, writer: string): void {
    const { verdicts } = this.#world;
    const isByAnother = life.completedBy !== undefined && life.completedBy !== writer;
    if (isByAnother || this.#forgotten.has(eventId)) verdicts.violated('effect recorded twice', eventId);
    life.completedBy = writer;
    this.#world.options.completed?.(eventId);
    const run = life.runs.findLast(({ lockToken, hasEffect }) => lockToken === writer && hasEffect);
    if (run) {
      run.isRecorded = true;
      run.instance.runs.delete(run);
      if (this.#world.options.forgetsCompleted) this.#forget(eventId, life);
    } else verdicts.violated('completed without its effect', eventId);
  }

  /** In a life of very many events: what has ended well needs no more watching. */
  #forget(eventId: string, life: Life): void {
    for (const { lockToken } of life.runs) this.#runs.delete(lockToken);
    this.#lives.delete(eventId);
    this.#forgotten.add(eventId);
  }

  finish(): void {
    const { verdicts } = this.#world;
    for (const [eventId, { runs }] of this.#lives) {
      const effects = runs.filter(({ hasEffect }) => hasEffect);
      const excused = effects.filter(({ isRecorded, excuse }) => !isRecorded && excuse !== undefined);
      if (effects.length > 1 + excused.length) {
        verdicts.violated(
          'effect twice without a fault',
          `${eventId}: ${effects.length} effects, ${excused.length} excused`,
        );
      }
      const unexcused = effects.find(({ isRecorded, excuse }) => !isRecorded && excuse === undefined);
      if (unexcused) verdicts.violated('effect without its record', `${eventId} on ${unexcused.instance.name}`);
    }
  }

  #lifeOf(eventId: string): Life {
    let life = this.#lives.get(eventId);
    if (!life) {
      life = {
        runs: [],
        writers: new Map(),
        idempotencyKey: undefined,
        record: undefined,
        ended: undefined,
        completedBy: undefined,
      };
      this.#lives.set(eventId, life);
    }
    return life;
  }
}
