import { describe, expect, test } from 'vitest';
import type { Hold } from '../../functions/core/pipeline/ports.ts';
import type { Origin } from '../../functions/core/rules/envelope.ts';
import {
  claimant,
  copy,
  DUE_UTC,
  death,
  ended,
  hold,
  LAPSED_IN_MS,
  type LedgerBench,
  ourCopy,
  running,
} from './ledger-bench.ts';

/** What is recorded of an event, and what a delivery that comes after it is told. */
export function ledgerOutcomes({ aKey, ask, claim, eventWith, holdOf, record, recorded }: LedgerBench): void {
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

    test('hands what the handler returned to duplicates', async () => {
      const result = '{"chargeId":"c-1"}';
      const { key, held } = await eventWith({ kind: 'completed', result });

      expect(held).toEqual(hold(key, ended({ kind: 'completed', result })));
      expect(await ask(key, claimant())).toEqual({ kind: 'duplicate', result });
    });

    test('dates the record by the outcome, not by the claim', async () => {
      const claimed = await holdOf(aKey());
      const { record } = await recorded(claimed, { kind: 'completed' });

      expect(record.sinceUtc).toBeGreaterThanOrEqual(claimed.record.sinceUtc - 1_000);
      expect(record.sinceUtc).toBeLessThan(claimed.record.sinceUtc + 10_000);
    });

    test('recognises its own write when it is asked to write the same again', async () => {
      const key = aKey();
      const before = await holdOf(key);
      await recorded(before, { kind: 'completed' });

      expect(await record(before, { kind: 'completed' })).toEqual({
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
      const again = {
        kind: 'sendAgain',
        attempt: 2,
        unsent: copy,
        hold: hold(key, running({ owner: 'lock-2', isToSend: true })),
      };

      expect(await ask(key, claimant({ owner: 'lock-2' }))).toEqual(again);
      expect(await ask(key, claimant({ owner: 'lock-2' }))).toEqual(again);
    });

    test('has it sent by the next one where whoever was to send it has died; the attempt has failed and does not run', async () => {
      const { key } = await eventWith({ kind: 'unsent', attempt: 2, copy });
      await claim(key, claimant({ owner: 'lock-2' }), LAPSED_IN_MS, true);

      expect(await ask(key, claimant({ owner: 'lock-3' }))).toEqual({
        kind: 'sendAgain',
        attempt: 2,
        unsent: copy,
        hold: hold(key, running({ owner: 'lock-3', isToSend: true })),
      });
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
    /** A copy of ours that someone sent again after it had died. */
    const handSent = (diedUtc: number) => ({
      isOurCopy: true,
      notBeforeUtc: DUE_UTC,
      enqueuedUtc: Math.max(DUE_UTC + 60_000, diedUtc + 1),
    });
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

    test('knows by its MessageId the message that did go, where an earlier copy repeated the dead letter', async () => {
      const { key, held } = await eventWith(dying, last);
      const repeat = await ask(key, ourCopy(2, 'lock-4'));
      await recorded((repeat as { hold: Hold }).hold, { kind: 'deadLettered', messageId: 'earlier~r1~copy' });
      const resent = { sequenceNumber: '50', ...handSent(held.record.sinceUtc) };

      const claim = ask(
        key,
        claimant({ attempt: 2, owner: 'lock-9', origin: { ...resent, messageId: 'earlier~r1~copy' } }),
      );
      expect(await claim).toMatchObject({ kind: 'run', hold: { record: { generation: held.record.generation + 1 } } });
    });

    test('refuses the confirmation once a later generation has begun', async () => {
      const { key, held } = await eventWith(dying, last);
      await holdOf(key, claimant({ generation: 1, owner: 'lock-9', origin: { sequenceNumber: '50' } }));

      expect(await record(held, { kind: 'deadLettered' })).toEqual({ kind: 'leaseLost' });
    });

    test.each(['deadLettering', 'deadLettered'])('runs a replay, which opens a generation (%s)', async (kind) => {
      const { key, held } = await eventWith(dying, last);
      if (kind === 'deadLettered') await recorded(held, { kind });

      expect(await ask(key, claimant({ generation: 1, owner: 'lock-9', origin: { sequenceNumber: '50' } }))).toEqual({
        kind: 'run',
        hold: hold(
          key,
          running({ generation: 1, owner: 'lock-9', opener: '50', sequenceNumber: '50', deadLetter: death }),
        ),
      });
    });

    test.each([
      ['the marks of a dead letter', () => ({ carriesDeadLetterMarks: true, isOurCopy: true })],
      ['the MessageId that died', (diedUtc) => ({ messageId: death.messageId, ...handSent(diedUtc) })],
      ['coming from elsewhere, after the death', (diedUtc: number) => ({ enqueuedUtc: diedUtc + 1 })],
    ] as [string, (diedUtc: number) => Partial<Origin>][])('knows a revival by %s', async (_, originAfter) => {
      const { key, held } = await eventWith(dying, last);
      await recorded(held, { kind: 'deadLettered' });
      const origin = { sequenceNumber: '50', ...originAfter(held.record.sinceUtc) };

      expect(await ask(key, claimant({ attempt: 3, owner: 'lock-9', origin }))).toEqual({
        kind: 'run',
        hold: hold(
          key,
          running({ generation: 1, owner: 'lock-9', opener: '50', sequenceNumber: '50', deadLetter: death }),
        ),
      });
    });

    test('knows by its MessageId what the broker dead-letters again, until an attempt after the revival has ended', async () => {
      const { key, held } = await eventWith(dying, last);
      await recorded(held, { kind: 'deadLettered' });
      const brought = (sequenceNumber: string, sinceUtc: number) =>
        claimant({
          attempt: 3,
          owner: `lock-${sequenceNumber}`,
          origin: { messageId: death.messageId, sequenceNumber, ...handSent(sinceUtc) },
        });
      const first = await holdOf(key, brought('50', held.record.sinceUtc), LAPSED_IN_MS);

      const second = await holdOf(key, brought('51', first.record.sinceUtc));
      expect(second.record).toMatchObject({ generation: 2, attempt: 1, opener: '51' });

      const { record } = await recorded(second, { kind: 'scheduled', attempt: 2, dueUtc: DUE_UTC });
      expect(await ask(key, brought('52', record.sinceUtc))).toEqual({ kind: 'stale' });
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
}
