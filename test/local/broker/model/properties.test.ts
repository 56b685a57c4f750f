import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Settlement } from '../../../../local/broker/model/outcomes.ts';
import type { Queue } from '../../../../local/broker/model/queue.ts';
import { aMessage, aQueue, NOON_UTC, type TestQueue } from './a-queue.ts';

const LOCK_IN_MS = 30_000;
const MAX_DELIVERIES = 3;
const SETTLEMENTS = ['complete', 'abandon', 'defer', 'deadLetter', 'release'] as const;

type Step =
  | { readonly kind: 'send'; readonly timeToLiveInMs: number | undefined }
  | { readonly kind: 'schedule'; readonly inMs: number }
  | { readonly kind: 'cancel'; readonly pick: number }
  | { readonly kind: 'receive' }
  | { readonly kind: 'receiveDeferred'; readonly pick: number }
  | { readonly kind: 'settle'; readonly pick: number; readonly as: (typeof SETTLEMENTS)[number] }
  | { readonly kind: 'renew'; readonly pick: number }
  | { readonly kind: 'pass'; readonly inMs: number; readonly isNoticed: boolean };

const pick = fc.nat({ max: 1000 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      timeToLiveInMs: fc.option(fc.integer({ min: 1, max: 90_000 }), { nil: undefined }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('schedule' as const), inMs: fc.integer({ min: 0, max: 60_000 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const), pick }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('receive' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('receiveDeferred' as const), pick }) },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('settle' as const), pick, as: fc.constantFrom(...SETTLEMENTS) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('renew' as const), pick }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('pass' as const),
      inMs: fc.integer({ min: 1, max: 40_000 }),
      isNoticed: fc.boolean(),
    }),
  },
);

/** What a test remembers of a delivery, to know what its lock must be worth. */
type Held = { readonly id: string; readonly lockToken: string; endsUtc: number; isSettled: boolean };

/** Runs steps against a queue beside a plain record of what must be so. */
class Run {
  readonly test: TestQueue;
  readonly queue: Queue;
  readonly held: Held[] = [];
  readonly ids: string[] = [];
  readonly gone = new Set<string>();
  readonly cancellable = new Map<number, string>();
  readonly counts = new Map<string, number>();
  nowUtc = NOON_UTC;

  constructor() {
    this.test = aQueue({
      lockDurationInMs: LOCK_IN_MS,
      maxDeliveryCount: MAX_DELIVERIES,
      deadLetteringOnMessageExpiration: true,
    });
    this.queue = this.test.queue;
  }

  apply(step: Step): void {
    switch (step.kind) {
      case 'send':
        this.queue.send(aMessage(this.newId(), { timeToLiveInMs: step.timeToLiveInMs }));
        return;
      case 'schedule': {
        const id = this.newId();
        const result = this.queue.schedule(aMessage(id), this.nowUtc + step.inMs);
        if (result.kind === 'scheduled') this.cancellable.set(result.sequenceNumber, id);
        return;
      }
      case 'cancel': {
        const chosen = [...this.cancellable][step.pick % Math.max(1, this.cancellable.size)];
        if (chosen !== undefined && this.queue.cancel(chosen[0])) this.gone.add(chosen[1]);
        return;
      }
      case 'receive':
        this.note(this.queue.receive());
        return;
      case 'receiveDeferred':
        this.note(this.queue.receiveDeferred(1 + (step.pick % Math.max(1, this.ids.length))));
        return;
      case 'settle':
        this.settle(step.pick, { kind: step.as });
        return;
      case 'renew': {
        const held = this.held[step.pick % Math.max(1, this.held.length)];
        if (held === undefined) return;
        const result = this.queue.renew(held.lockToken);
        expect(result.kind).toBe(this.isLive(held) ? 'renewed' : 'lockLost');
        if (result.kind === 'renewed') held.endsUtc = result.lockedUntilUtc;
        return;
      }
      case 'pass':
        this.nowUtc += step.inMs;
        if (step.isNoticed) this.test.pass(step.inMs);
        else this.test.passUnnoticed(step.inMs);
    }
  }

  settle(choice: number, settlement: Settlement): void {
    const held = this.held[choice % Math.max(1, this.held.length)];
    if (held === undefined) return;
    const result = this.queue.settle(held.lockToken, settlement);
    expect(result.kind).toBe(this.isLive(held) ? 'settled' : 'lockLost');
    if (result.kind !== 'settled') return;
    held.isSettled = true;
    if (settlement.kind === 'complete') this.gone.add(held.id);
  }

  /** A lock is worth something until it is settled or its time is up: nothing else ends it. */
  isLive({ isSettled, endsUtc }: Held): boolean {
    return !isSettled && this.nowUtc < endsUtc;
  }

  note(delivery: ReturnType<Queue['receive']>): void {
    if (delivery === undefined) return;
    const id = delivery.message.content.messageId ?? '';
    const others = this.held.filter((held) => held.id === id && this.isLive(held));
    expect(others, 'a lock is exclusive').toEqual([]);
    const earlier = this.counts.get(id) ?? 0;
    expect([earlier, earlier + 1], 'the delivery count rises by one at a time').toContain(delivery.deliveryCount);
    expect(delivery.deliveryCount).toBeLessThan(MAX_DELIVERIES);
    this.counts.set(id, delivery.deliveryCount);
    this.held.push({ id, lockToken: delivery.lockToken ?? '', endsUtc: delivery.lockedUntilUtc, isSettled: false });
  }

  /** Each message that was sent and neither completed nor cancelled is in exactly one place. */
  check(): void {
    const stored = [...this.queue.peek(0, 1e6), ...this.test.deadLetters.peek(0, 1e6)].map(
      ({ content }) => content.messageId,
    );
    expect(stored.sort()).toEqual(this.ids.filter((id) => !this.gone.has(id)).sort());
    const { active, scheduled, deferred, deadLetter } = this.queue.counts();
    expect(active + scheduled + deferred + deadLetter).toBe(stored.length);
    const locked = this.queue.peek(0, 1e6).filter(({ state }) => state === 'locked');
    expect(locked.length).toBe(this.held.filter((held) => this.isLive(held)).length);
  }

  newId(): string {
    const id = `m${this.ids.length + 1}`;
    this.ids.push(id);
    return id;
  }
}

test('keeps every message in exactly one place, locks exclusive and stale settlements refused', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 120, size: 'max' }), (steps) => {
      const run = new Run();
      for (const one of steps) {
        run.apply(one);
        run.check();
      }
    }),
    { numRuns: 300 },
  );
});

test('hands active messages over in the order of their sequence numbers, whatever came back before', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 120, size: 'max' }), (steps) => {
      const run = new Run();
      for (const one of steps) run.apply(one);
      const expected = run.queue.peek(0, 1e6).filter(({ state }) => state === 'active');
      const received: number[] = [];
      for (let next = run.queue.receive(); next !== undefined; next = run.queue.receive())
        received.push(next.message.sequenceNumber);
      expect(received).toEqual(expected.map(({ sequenceNumber }) => sequenceNumber));
    }),
    { numRuns: 300 },
  );
});

test('comes to the same end whether it is woken on time or late', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 80, size: 'max' }), (steps) => {
      const ends = [true, false].map((isNoticed) => {
        const run = new Run();
        for (const one of steps) run.apply(one.kind === 'pass' ? { ...one, isNoticed } : one);
        return [run.queue, run.test.deadLetters].map((queue) =>
          queue.peek(0, 1e6).map(({ content, state, sequenceNumber, deliveryCount, enqueuedUtc }) => ({
            id: content.messageId,
            state,
            sequenceNumber,
            deliveryCount,
            enqueuedUtc,
          })),
        );
      });
      expect(ends[0]).toEqual(ends[1]);
    }),
    { numRuns: 200 },
  );
});

test('gives each session to one holder at a time and its messages in order', () => {
  const sessionStep = fc.oneof(
    fc.record({ kind: fc.constant('send' as const), session: fc.constantFrom('a', 'b', 'c') }),
    fc.record({
      kind: fc.constantFrom('accept' as const, 'acceptNext' as const),
      session: fc.constantFrom('a', 'b', 'c'),
    }),
    fc.record({ kind: fc.constantFrom('receive' as const, 'release' as const, 'complete' as const), pick }),
    fc.record({ kind: fc.constant('pass' as const), inMs: fc.integer({ min: 1, max: 40_000 }) }),
  );
  fc.assert(
    fc.property(fc.array(sessionStep, { minLength: 1, maxLength: 120, size: 'max' }), (steps) => {
      const { queue, pass } = aQueue({
        requiresSession: true,
        lockDurationInMs: LOCK_IN_MS,
        maxDeliveryCount: 1000,
        defaultTimeToLiveInMs: 1e9,
      });
      const { sessions } = queue;
      if (sessions === undefined) throw new Error('The queue has no sessions.');
      const holds: NonNullable<ReturnType<typeof sessions.accept>>[] = [];
      const taken: { token: string; session: string; number: number; isDone: boolean }[] = [];
      let sent = 0;
      for (const one of steps) {
        const live = holds.filter(({ isOver }) => !isOver);
        switch (one.kind) {
          case 'send':
            queue.send(aMessage(`m${++sent}`, { sessionId: one.session }));
            break;
          case 'accept':
          case 'acceptNext': {
            const hold = one.kind === 'accept' ? sessions.accept(one.session) : sessions.acceptNext();
            if (hold !== undefined) {
              expect(live.map(({ sessionId }) => sessionId)).not.toContain(hold.sessionId);
              holds.push(hold);
            } else if (one.kind === 'accept') {
              expect(live.map(({ sessionId }) => sessionId)).toContain(one.session);
            }
            break;
          }
          case 'receive': {
            const hold = holds[one.pick % Math.max(1, holds.length)];
            const delivery = hold === undefined ? undefined : queue.receive('peekLock', hold);
            if (hold === undefined || delivery === undefined) break;
            expect(hold.isOver).toBe(false);
            const before = queue.peek(0, 1e6, hold.sessionId).filter(({ state }) => state === 'active');
            expect(before.every(({ sequenceNumber }) => sequenceNumber > delivery.message.sequenceNumber)).toBe(true);
            taken.push({
              token: delivery.lockToken ?? '',
              session: hold.sessionId,
              number: delivery.message.sequenceNumber,
              isDone: false,
            });
            break;
          }
          case 'release': {
            const hold = holds[one.pick % Math.max(1, holds.length)];
            if (hold !== undefined) sessions.release(hold);
            break;
          }
          case 'complete': {
            const delivery = taken[one.pick % Math.max(1, taken.length)];
            if (delivery !== undefined && queue.settle(delivery.token, { kind: 'complete' }).kind === 'settled')
              delivery.isDone = true;
            break;
          }
          case 'pass':
            pass(one.inMs);
        }
        expect(queue.counts().active).toBe(sent - taken.filter(({ isDone }) => isDone).length);
      }
    }),
    { numRuns: 300 },
  );
});
