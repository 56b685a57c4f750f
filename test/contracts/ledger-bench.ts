import { afterAll, beforeAll, expect } from 'vitest';
import type { Claim, Entry, EventKey, Hold, Ledger } from '../../functions/core/pipeline/ports.ts';
import type { Origin } from '../../functions/core/rules/envelope.ts';
import type { Claimant, LedgerRecord } from '../../functions/core/rules/ledger.ts';

/** A store for the suite: `open` gives one more ledger on it, as another instance of the consumer has. */
export interface LedgerStore {
  open(): Promise<Ledger>;
  close(): Promise<void>;
}

export const LEASE_IN_MS = 60_000;
/** A lease that has ended when it is written: how a lapse is had without waiting. Longer than any doubt about the time. */
export const LAPSED_IN_MS = -60_000;
export const DUE_UTC = Date.parse('2026-01-15T12:00:00.000Z');
export const SOME_TIME = expect.any(Number) as number;

export const copy = { dueUtc: DUE_UTC, code: 'HTTP 503', message: 'the provider is down' };
export const death = { messageId: 'order~r2~c', reason: 'AttemptsExhausted', description: 'attempt 3 of 3' };

export function claimant({
  origin,
  ...over
}: Partial<Omit<Claimant, 'origin'>> & { origin?: Partial<Origin> } = {}): Claimant {
  return {
    generation: 0,
    attempt: 1,
    owner: 'lock-1',
    ...over,
    origin: {
      messageId: 'order',
      sequenceNumber: '9007199254740993',
      enqueuedUtc: Date.parse('2026-01-15T11:00:00.000Z'),
      carriesDeadLetterMarks: false,
      isOurCopy: false,
      notBeforeUtc: undefined,
      ...origin,
    },
  };
}

/** A redelivery that this consumer scheduled. */
export const ourCopy = (attempt: number, owner = `lock-${attempt}`) =>
  claimant({
    attempt,
    owner,
    origin: { messageId: `order~r${attempt - 1}~c`, sequenceNumber: `${attempt}`, isOurCopy: true },
  });

export const running = (over: Partial<LedgerRecord> = {}): LedgerRecord => ({
  kind: 'inProgress',
  generation: 0,
  attempt: 1,
  opener: '9007199254740993',
  sequenceNumber: '9007199254740993',
  owner: 'lock-1',
  leaseEndUtc: SOME_TIME,
  takeovers: 0,
  sinceUtc: SOME_TIME,
  deadLetter: undefined,
  ...over,
});
export const ended = (over: Partial<LedgerRecord>): LedgerRecord => running({ owner: '', leaseEndUtc: 0, ...over });
export const hold = (key: EventKey, record: LedgerRecord): Hold => ({
  key,
  record,
  etag: expect.any(String) as string,
});

/** A store for the tests of one suite, and what is asked of it over and over. */
export function ledgerBench(start: () => Promise<LedgerStore>) {
  let store: LedgerStore;
  let ledger: Ledger;
  let events = 0;
  beforeAll(async () => {
    store = await start();
    ledger = await store.open();
  });
  afterAll(() => store?.close());
  /** Sets the events of this run apart on a store that keeps those of earlier ones. */
  const run = `${Date.now()}`;

  const bench = {
    run,
    aKey: (): EventKey => ({ consumer: 'orders/order-placed', eventId: `order-${run}-${++events}` }),
    /** One more instance on the same store. */
    open: () => store.open(),
    claim: ((...args) => ledger.claim(...args)) as Ledger['claim'],
    record: ((...args) => ledger.record(...args)) as Ledger['record'],
    ask: (key: EventKey, by: Claimant): Promise<Claim> => ledger.claim(key, by, LEASE_IN_MS, true),

    async holdOf(key: EventKey, by = claimant(), leaseInMs = LEASE_IN_MS): Promise<Hold> {
      const claim = await ledger.claim(key, by, leaseInMs, true);
      if (claim.kind !== 'run') throw new Error(`expected to run, got ${claim.kind}`);
      return claim.hold;
    },
    async recorded(held: Hold, entry: Entry): Promise<Hold> {
      const written = await ledger.record(held, entry);
      if (written.kind !== 'recorded') throw new Error('the lease is lost');
      return written.hold;
    },
    /** An event that has come as far as `entry`. */
    async eventWith(entry: Entry, by = claimant()): Promise<{ key: EventKey; held: Hold }> {
      const key = bench.aKey();
      return { key, held: await bench.recorded(await bench.holdOf(key, by), entry) };
    },
  };
  return bench;
}

export type LedgerBench = ReturnType<typeof ledgerBench>;
