import { describe, expect, test } from 'vitest';
import type { Claim, Hold } from '../../functions/core/pipeline/ports.ts';
import {
  claimant,
  copy,
  DUE_UTC,
  death,
  hold,
  LAPSED_IN_MS,
  LEASE_IN_MS,
  type LedgerBench,
  ourCopy,
  running,
  SOME_TIME,
} from './ledger-bench.ts';

/** Who may run, and how events are told apart. */
export function ledgerClaims({ aKey, ask, claim, eventWith, holdOf, open, record, recorded, run }: LedgerBench): void {
  describe('of an event it does not know', () => {
    test.each([true, false])('lets it run, whether one was expected (%s) or not', async (mayExist) => {
      const key = aKey();

      expect(await claim(key, claimant(), LEASE_IN_MS, mayExist)).toEqual({
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
      const ledgers = await Promise.all(Array.from({ length: 10 }, () => open()));

      const claims = await Promise.all(
        ledgers.map((each, i) => each.claim(key, claimant({ owner: `lock-${i}` }), LEASE_IN_MS, i % 2 === 0)),
      );

      expect(claims.map(({ kind }) => kind).sort()).toEqual([...Array(9).fill('busy'), 'run']);
    });
  });

  describe('of an event whose content it knows', () => {
    const ours = claimant({ fingerprint: 'f1' });

    test.each(['inProgress', 'completed', 'scheduled', 'deadLettering'] as const)(
      'refuses another content under its id while it is %s, and keeps the record',
      async (kind) => {
        const key = aKey();
        const held = await holdOf(key, ours);
        if (kind === 'completed') await recorded(held, { kind });
        if (kind === 'scheduled') await recorded(held, { kind, attempt: 2, dueUtc: DUE_UTC });
        if (kind === 'deadLettering') await recorded(held, { kind, ...death });
        const other = claimant({ owner: 'lock-9', fingerprint: 'f2' });

        expect(await ask(key, other)).toEqual({ kind: 'conflict', fingerprint: 'f1' });
        expect(await ask(key, { ...other, fingerprint: 'f1' })).not.toMatchObject({ kind: 'conflict' });
      },
    );

    test('takes a delivery that brings none for the same, and keeps what it knows', async () => {
      const key = aKey();
      await recorded(await holdOf(key, ours), { kind: 'scheduled', attempt: 2, dueUtc: DUE_UTC });

      expect(await ask(key, { ...ourCopy(2), fingerprint: 'f1' })).toMatchObject({
        kind: 'run',
        hold: { record: { attempt: 2, fingerprint: 'f1' } },
      });
    });
  });

  describe('of an event in progress', () => {
    test('gives the owner that asks again the same hold, which can be written under', async () => {
      const key = aKey();
      await holdOf(key);

      const again = await ask(key, claimant());

      expect(again).toEqual({ kind: 'run', hold: hold(key, running()) });
      expect(await record((again as { hold: Hold }).hold, { kind: 'completed' })).toMatchObject({
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

    // Field case L8.
    test('gives a lapsed one to one of two claimants at once, with a takeover counted', async () => {
      const key = aKey();
      await holdOf(key, claimant(), LAPSED_IN_MS);
      const other = await open();

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
      const scheduled = await recorded(third, { kind: 'scheduled', attempt: 2, dueUtc: DUE_UTC });
      const next = await holdOf(key, ourCopy(2));

      expect([third, scheduled, next].map((held) => held.record.takeovers)).toEqual([2, 0, 0]);
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
        expect(await record(stale, entry)).toEqual({ kind: 'leaseLost' });
      }
      expect(await record(held, { kind: 'completed' })).toMatchObject({ kind: 'recorded' });
    });

    test('does not take the outcome of the one that took over for its own', async () => {
      const key = aKey();
      const stale = await holdOf(key, claimant(), LAPSED_IN_MS);
      await recorded(await holdOf(key, claimant({ owner: 'lock-2' })), { kind: 'completed' });

      expect(await record(stale, { kind: 'completed' })).toEqual({ kind: 'leaseLost' });
    });

    test('takes a write under a lapsed hold that nobody took over', async () => {
      const held = await holdOf(aKey(), claimant(), LAPSED_IN_MS);

      expect(await record(held, { kind: 'completed' })).toMatchObject({ kind: 'recorded' });
    });
  });

  describe('by its key', () => {
    // Field case L4.
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
}
