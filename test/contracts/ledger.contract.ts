import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Claim, Entry, EventKey, Hold, Ledger } from '../../functions/core/pipeline/ports.ts';
import type { Origin } from '../../functions/core/rules/envelope.ts';
import type { Claimant, LedgerRecord } from '../../functions/core/rules/ledger.ts';

/** A store for the suite: `open` gives one more ledger on it, as another instance of the consumer has. */
export interface LedgerStore {
  open(): Promise<Ledger>;
  close(): Promise<void>;
}

const LEASE_IN_MS = 60_000;
/** A lease that has ended when it is written: how a lapse is had without waiting. Longer than any doubt about the time. */
const LAPSED_IN_MS = -60_000;
const DUE_UTC = Date.parse('2026-01-15T12:00:00.000Z');
const SOME_TIME = expect.any(Number) as number;

const copy = { dueUtc: DUE_UTC, code: 'HTTP 503', message: 'the provider is down' };
const death = { messageId: 'order~r2~c', reason: 'AttemptsExhausted', description: 'attempt 3 of 3' };

function claimant({
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
const ourCopy = (attempt: number, owner = `lock-${attempt}`) =>
  claimant({
    attempt,
    owner,
    origin: { messageId: `order~r${attempt - 1}~c`, sequenceNumber: `${attempt}`, isOurCopy: true },
  });

const running = (over: Partial<LedgerRecord> = {}): LedgerRecord => ({
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
const ended = (over: Partial<LedgerRecord>): LedgerRecord => running({ owner: '', leaseEndUtc: 0, ...over });
const hold = (key: EventKey, record: LedgerRecord): Hold => ({ key, record, etag: expect.any(String) as string });

/** What every ledger does, whatever it keeps its records in. */
export function ledgerContract(name: string, start: () => Promise<LedgerStore>): void {
  describe(`a ledger ${name}`, () => {
    let store: LedgerStore;
    let ledger: Ledger;
    let events = 0;
    beforeAll(async () => {
      store = await start();
      ledger = await store.open();
    });
    afterAll(() => store?.close());

    const run = `${Date.now()}`;
    const aKey = (): EventKey => ({ consumer: 'orders/order-placed', eventId: `order-${run}-${++events}` });

    async function holdOf(key: EventKey, by = claimant(), leaseInMs = LEASE_IN_MS): Promise<Hold> {
      const claim = await ledger.claim(key, by, leaseInMs, true);
      if (claim.kind !== 'run') throw new Error(`expected to run, got ${claim.kind}`);
      return claim.hold;
    }
    async function recorded(held: Hold, entry: Entry): Promise<Hold> {
      const written = await ledger.record(held, entry);
      if (written.kind !== 'recorded') throw new Error('the lease is lost');
      return written.hold;
    }
    /** An event that has come as far as `entry`. */
    async function eventWith(entry: Entry, by = claimant()): Promise<{ key: EventKey; held: Hold }> {
      const key = aKey();
      return { key, held: await recorded(await holdOf(key, by), entry) };
    }
    const ask = (key: EventKey, by: Claimant) => ledger.claim(key, by, LEASE_IN_MS, true);

    describe('of an event it does not know', () => {
      test.each([true, false])('lets it run, whether one was expected (%s) or not', async (mayExist) => {
        const key = aKey();

        expect(await ledger.claim(key, claimant(), LEASE_IN_MS, mayExist)).toEqual({
          kind: 'run',
          hold: hold(key, running()),
        });
      });

      test('gives a lease that ends no sooner than asked for', async () => {
        const { record } = await holdOf(aKey());

        expect(record.leaseEndUtc - record.sinceUtc).toBe(LEASE_IN_MS);
      });

      test('lets exactly one of ten claimants at once run, and tells the others that it is busy', async () => {
        const key = aKey();
        const ledgers = await Promise.all(Array.from({ length: 10 }, () => store.open()));

        const claims = await Promise.all(
          ledgers.map((each, i) => each.claim(key, claimant({ owner: `lock-${i}` }), LEASE_IN_MS, i % 2 === 0)),
        );

        expect(claims.map(({ kind }) => kind).sort()).toEqual([...Array(9).fill('busy'), 'run']);
      });
    });

    describe('of an event in progress', () => {
      test('gives the owner that asks again the same hold, which can be written under', async () => {
        const key = aKey();
        await holdOf(key);

        const again = await ask(key, claimant());

        expect(again).toEqual({ kind: 'run', hold: hold(key, running()) });
        expect(await ledger.record((again as { hold: Hold }).hold, { kind: 'completed' })).toMatchObject({
          kind: 'recorded',
        });
      });

      test.each([
        ['another delivery of it', claimant({ owner: 'lock-2' }), false],
        ['the next attempt', ourCopy(2), true],
      ])('is busy for %s until the lease ends', async (_, by, isNext) => {
        const key = aKey();
        await holdOf(key);

        const claim = await ask(key, by);

        expect(claim).toEqual({ kind: 'busy', leaseEndsInMs: SOME_TIME, isNext });
        const { leaseEndsInMs } = claim as Extract<Claim, { kind: 'busy' }>;
        expect(leaseEndsInMs).toBeGreaterThan(LEASE_IN_MS - 10_000);
        expect(leaseEndsInMs).toBeLessThan(LEASE_IN_MS + 10_000);
      });

      test('gives a lapsed one to one of two claimants at once, with a takeover counted', async () => {
        const key = aKey();
        await holdOf(key, claimant(), LAPSED_IN_MS);
        const other = await store.open();

        const claims = await Promise.all([
          ask(key, claimant({ owner: 'lock-2' })),
          other.claim(key, claimant({ owner: 'lock-3' }), LEASE_IN_MS, true),
        ]);

        expect(claims.map(({ kind }) => kind).sort()).toEqual(['busy', 'run']);
        const winner = claims.find((claim) => claim.kind === 'run');
        expect(winner?.hold.record).toEqual(running({ owner: expect.stringMatching(/^lock-[23]$/), takeovers: 1 }));
      });

      test('counts each takeover of an attempt, and none of them for the next attempt', async () => {
        const key = aKey();
        for (const owner of ['lock-1', 'lock-2']) await holdOf(key, claimant({ owner }), LAPSED_IN_MS);

        const third = await holdOf(key, claimant({ owner: 'lock-3' }), LAPSED_IN_MS);
        const next = await holdOf(key, ourCopy(2));

        expect([third.record.takeovers, next.record.takeovers]).toEqual([2, 0]);
      });

      test('refuses every write under a hold that was taken over', async () => {
        const key = aKey();
        const stale = await holdOf(key, claimant(), LAPSED_IN_MS);
        const held = await holdOf(key, claimant({ owner: 'lock-2' }));

        for (const entry of [
          { kind: 'completed' },
          { kind: 'released' },
          { kind: 'scheduled', attempt: 2, dueUtc: DUE_UTC },
          { kind: 'unsent', attempt: 2, copy },
          { kind: 'deadLettering', ...death },
        ] as const) {
          expect(await ledger.record(stale, entry)).toEqual({ kind: 'leaseLost' });
        }
        expect(await ledger.record(held, { kind: 'completed' })).toMatchObject({ kind: 'recorded' });
      });

      test('takes a write under a lapsed hold that nobody took over', async () => {
        const held = await holdOf(aKey(), claimant(), LAPSED_IN_MS);

        expect(await ledger.record(held, { kind: 'completed' })).toMatchObject({ kind: 'recorded' });
      });
    });

    describe('of a completed event', () => {
      test('ends whatever comes as a duplicate', async () => {
        const { key, held } = await eventWith({ kind: 'completed' });

        expect(held).toEqual(hold(key, ended({ kind: 'completed' })));
        for (const by of [
          claimant(),
          ourCopy(2),
          claimant({ generation: 1, origin: { carriesDeadLetterMarks: true } }),
        ]) {
          expect(await ask(key, by)).toEqual({ kind: 'duplicate' });
        }
      });

      test('recognises its own write when it is asked to write the same again', async () => {
        const key = aKey();
        const before = await holdOf(key);
        await recorded(before, { kind: 'completed' });

        expect(await ledger.record(before, { kind: 'completed' })).toEqual({
          kind: 'recorded',
          hold: hold(key, ended({ kind: 'completed' })),
        });
      });
    });

    describe('of a released event', () => {
      test('lets it run at once, without counting a takeover', async () => {
        const { key } = await eventWith({ kind: 'released' });

        expect(await ask(key, claimant({ owner: 'lock-2' }))).toEqual({
          kind: 'run',
          hold: hold(key, running({ owner: 'lock-2' })),
        });
      });
    });

    describe('of a scheduled event', () => {
      test('ends the attempt that scheduled it as stale, and lets the next one run', async () => {
        const { key, held } = await eventWith({ kind: 'scheduled', attempt: 2, dueUtc: DUE_UTC });

        expect(held).toEqual(hold(key, ended({ kind: 'scheduled', attempt: 2 })));
        expect(await ask(key, claimant({ owner: 'lock-1b' }))).toEqual({ kind: 'stale' });
        expect(await ask(key, ourCopy(2))).toEqual({
          kind: 'run',
          hold: hold(key, running({ attempt: 2, owner: 'lock-2', sequenceNumber: '2' })),
        });
      });
    });

    describe('of an event whose copy is unsent', () => {
      test('has it sent again with what is known of it, and again for an owner whose reply was lost', async () => {
        const { key } = await eventWith({ kind: 'unsent', attempt: 2, copy });
        const again = { kind: 'sendAgain', attempt: 2, unsent: copy, hold: hold(key, running({ owner: 'lock-2' })) };

        expect(await ask(key, claimant({ owner: 'lock-2' }))).toEqual(again);
        expect(await ask(key, claimant({ owner: 'lock-2' }))).toEqual(again);
      });

      test('goes on as scheduled once it is sent', async () => {
        const { key } = await eventWith({ kind: 'unsent', attempt: 2, copy });
        const claim = await ask(key, claimant({ owner: 'lock-2' }));
        await recorded((claim as { hold: Hold }).hold, { kind: 'scheduled', attempt: 2, dueUtc: DUE_UTC });

        expect(await ask(key, claimant({ owner: 'lock-1' }))).toEqual({ kind: 'stale' });
        expect(await ask(key, ourCopy(2))).toMatchObject({ kind: 'run' });
      });

      test('lets the copy run that was sent after all, and forgets that it was not', async () => {
        const { key } = await eventWith({ kind: 'unsent', attempt: 2, copy });

        expect(await ask(key, ourCopy(2))).toMatchObject({ kind: 'run', hold: { record: { attempt: 2 } } });
        expect(await ask(key, ourCopy(2))).toMatchObject({ kind: 'run', hold: { record: { attempt: 2 } } });
      });
    });

    describe('of a dead-lettered event', () => {
      const dying = { kind: 'deadLettering', ...death } as const;
      const last = ourCopy(3);

      test('has the dead letter repeated until one is confirmed, then ends what comes as stale', async () => {
        const { key, held } = await eventWith(dying, last);
        const { reason, description } = death;
        expect(held.record).toEqual(
          ended({ kind: 'deadLettering', attempt: 3, opener: '3', sequenceNumber: '3', deadLetter: death }),
        );

        const repeat = await ask(key, ourCopy(3, 'lock-4'));
        expect(repeat).toEqual({ kind: 'repeatDeadLetter', reason, description, hold: held });
        const confirmed = await recorded((repeat as { hold: Hold }).hold, { kind: 'deadLettered' });

        expect(confirmed.record).toEqual({ ...held.record, kind: 'deadLettered' });
        expect(await ask(key, ourCopy(3, 'lock-5'))).toEqual({ kind: 'stale' });
      });

      test('does not let the confirmation move the time of death', async () => {
        const { held } = await eventWith(dying, last);

        expect((await recorded(held, { kind: 'deadLettered' })).record.sinceUtc).toBe(held.record.sinceUtc);
      });

      test('refuses the confirmation once a later generation has begun', async () => {
        const { key, held } = await eventWith(dying, last);
        await holdOf(key, claimant({ generation: 1, owner: 'lock-9', origin: { sequenceNumber: '50' } }));

        expect(await ledger.record(held, { kind: 'deadLettered' })).toEqual({ kind: 'leaseLost' });
      });

      test.each(['deadLettering', 'deadLettered'])('runs a replay, which opens a generation (%s)', async (kind) => {
        const { key, held } = await eventWith(dying, last);
        if (kind === 'deadLettered') await recorded(held, { kind });

        expect(await ask(key, claimant({ generation: 1, owner: 'lock-9', origin: { sequenceNumber: '50' } }))).toEqual({
          kind: 'run',
          hold: hold(key, running({ generation: 1, owner: 'lock-9', opener: '50', sequenceNumber: '50' })),
        });
      });

      const clearlyLater = Date.parse('2026-01-15T13:00:00.000Z');
      test.each([
        ['the marks of a dead letter', () => ({ carriesDeadLetterMarks: true, isOurCopy: true })],
        [
          'the MessageId that died',
          () => ({ messageId: death.messageId, isOurCopy: true, notBeforeUtc: DUE_UTC, enqueuedUtc: clearlyLater }),
        ],
        ['coming from elsewhere, after the death', (diedUtc: number) => ({ enqueuedUtc: diedUtc + 1 })],
      ] as [string, (diedUtc: number) => Partial<Origin>][])('knows a revival by %s', async (_, originAfter) => {
        const { key, held } = await eventWith(dying, last);
        await recorded(held, { kind: 'deadLettered' });
        const origin = { sequenceNumber: '50', ...originAfter(held.record.sinceUtc) };

        expect(await ask(key, claimant({ attempt: 3, owner: 'lock-9', origin }))).toEqual({
          kind: 'run',
          hold: hold(key, running({ generation: 1, owner: 'lock-9', opener: '50', sequenceNumber: '50' })),
        });
      });

      test('gives the owner of a revival that asks again the same attempt, not the one the message names', async () => {
        const { key } = await eventWith(dying, last);
        const revival = claimant({
          attempt: 3,
          owner: 'lock-9',
          origin: { sequenceNumber: '50', carriesDeadLetterMarks: true },
        });
        await holdOf(key, revival);

        expect((await holdOf(key, revival)).record).toMatchObject({ generation: 1, attempt: 1, opener: '50' });
      });
    });

    describe('by its key', () => {
      test.each([
        ['characters that keys must not have', "a/b\\c#d?e'f%g\th\u0085i"],
        ['128 characters of two bytes', 'ü'.repeat(128)],
        ['100,000 characters', 'long'.repeat(25_000)],
        ['nothing', ''],
      ])('keeps an id of %s', async (_, id) => {
        const key = { consumer: `orders/${run}`, eventId: id };
        await recorded(await holdOf(key), { kind: 'completed' });

        expect(await ask(key, claimant())).toEqual({ kind: 'duplicate' });
      });

      test('keeps ids apart that differ in case, in a trailing blank or in the consumer only', async () => {
        const eventId = `Order-${run}`;
        await recorded(await holdOf({ consumer: 'orders', eventId }), { kind: 'completed' });

        for (const [consumer, id] of [
          ['orders', eventId.toLowerCase()],
          ['orders', `${eventId} `],
          ['invoices', eventId],
        ] as const) {
          expect(await ask({ consumer, eventId: id }, claimant())).toMatchObject({ kind: 'run' });
        }
      });

      test('takes texts of any length and any character', async () => {
        const endless = `\u0000\ud800${'ü'.repeat(50_000)}`;
        const { key } = await eventWith({ kind: 'deadLettering', ...death, reason: endless, description: endless });
        const other = await eventWith({
          kind: 'unsent',
          attempt: 2,
          copy: { ...copy, code: endless, message: endless },
        });

        expect(await ask(key, claimant())).toMatchObject({ kind: 'repeatDeadLetter' });
        expect(await ask(other.key, claimant())).toMatchObject({ kind: 'sendAgain', attempt: 2 });
      });
    });
  });
}
