import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Claimant, judge, type LedgerRecord, type RecordKind } from '../../../functions/core/rules/ledger.ts';

const NOW_UTC = Date.parse('2026-01-15T12:00:00.000Z');

const KINDS: RecordKind[] = [
  'inProgress',
  'released',
  'scheduled',
  'unsent',
  'deadLettering',
  'deadLettered',
  'completed',
];
const small = fc.integer({ min: 0, max: 3 });
/** Around the moment of the verdict, so that both sides of every limit are met. */
const instant = fc.integer({ min: -30_000, max: 30_000 }).map((inMs) => NOW_UTC + inMs);
const sequenceNumber = fc.constantFrom('1', '2', '3');
const messageId = fc.constantFrom('a', 'b');

const record: fc.Arbitrary<LedgerRecord> = fc.record({
  kind: fc.constantFrom(...KINDS),
  generation: small,
  attempt: small.map((n) => n + 1),
  opener: sequenceNumber,
  sequenceNumber,
  owner: fc.constantFrom('lock-1', 'lock-2', ''),
  leaseEndUtc: instant,
  takeovers: small,
  isToSend: fc.boolean(),
  sinceUtc: instant,
  deadLetter: fc.option(fc.record({ messageId, reason: fc.string(), description: fc.string() }), { nil: undefined }),
});
const claimant: fc.Arbitrary<Claimant> = fc.record({
  generation: small,
  attempt: small.map((n) => n + 1),
  owner: fc.constantFrom('lock-1', 'lock-2', 'lock-3'),
  origin: fc.record({
    messageId,
    sequenceNumber,
    enqueuedUtc: instant,
    carriesDeadLetterMarks: fc.boolean(),
    isOurCopy: fc.boolean(),
    notBeforeUtc: fc.option(instant, { nil: undefined }),
  }),
});
const maybeRecord = fc.option(record, { nil: undefined });

/** The record once a claim of it is written. */
function claimed(before: LedgerRecord | undefined, by: Claimant): LedgerRecord | undefined {
  const verdict = judge(before, by, NOW_UTC);
  if (verdict.kind !== 'run') return undefined;
  const { generation, attempt, opener, takeovers } = verdict;
  const { sequenceNumber } = by.origin;
  const lease = { owner: by.owner, leaseEndUtc: NOW_UTC + 60_000, sinceUtc: NOW_UTC };
  return {
    kind: 'inProgress',
    generation,
    attempt,
    opener,
    sequenceNumber,
    takeovers,
    ...lease,
    deadLetter: undefined,
  };
}

const check = <Ts extends [unknown, ...unknown[]]>(property: fc.IProperty<Ts>) =>
  fc.assert(property, { numRuns: 5_000 });

test('answers everything, the same each time, and changes nothing that it is shown', () => {
  check(
    fc.property(maybeRecord, claimant, (before, by) => {
      const shown = structuredClone({ before, by });
      const verdict = judge(before, by, NOW_UTC);

      expect(judge(before, by, NOW_UTC)).toEqual(verdict);
      expect({ before, by }).toEqual(shown);
    }),
  );
});

test('never runs a completed event', () => {
  check(
    fc.property(record, claimant, (before, by) => {
      expect(judge({ ...before, kind: 'completed' }, by, NOW_UTC)).toEqual({ kind: 'duplicate' });
    }),
  );
});

test('runs one of two deliveries at once, whatever each of them is', () => {
  check(
    fc.property(maybeRecord, claimant, claimant, (before, first, second) => {
      fc.pre(first.owner !== second.owner);
      const held = claimed(before, first);
      fc.pre(held !== undefined);

      expect(judge(held, second, NOW_UTC).kind).toBe('busy');
    }),
  );
});

test('lets the one that runs ask again', () => {
  check(
    fc.property(maybeRecord, claimant, (before, by) => {
      const held = claimed(before, by);
      fc.pre(held !== undefined);

      expect(judge(held, by, NOW_UTC).kind).toBe('run');
    }),
  );
});

test('never goes back in generation and attempt, but for the holder that asks again', () => {
  check(
    fc.property(record, claimant, (before, by) => {
      const verdict = judge(before, by, NOW_UTC);
      const isHolder = before.kind === 'inProgress' && before.leaseEndUtc > NOW_UTC && before.owner === by.owner;
      fc.pre(verdict.kind === 'run' && !isHolder);
      if (verdict.kind !== 'run') return;

      const forward = verdict.generation - before.generation || verdict.attempt - before.attempt;
      expect(forward).toBeGreaterThanOrEqual(0);
    }),
  );
});

test('after a death runs later generations only', () => {
  check(
    fc.property(record, fc.constantFrom('deadLettering', 'deadLettered'), claimant, (before, kind, by) => {
      const verdict = judge({ ...before, kind }, by, NOW_UTC);

      if (verdict.kind === 'run') expect(verdict.generation).toBeGreaterThan(before.generation);
      else expect(verdict.kind).toBe(kind === 'deadLettered' ? 'stale' : 'repeatDeadLetter');
    }),
  );
});

test('counts takeovers only where a lease has lapsed, one at a time', () => {
  check(
    fc.property(record, claimant, (before, by) => {
      const verdict = judge(before, by, NOW_UTC);
      fc.pre(verdict.kind === 'run');
      if (verdict.kind !== 'run' || verdict.takeovers <= before.takeovers) return;

      expect(before.kind).toBe('inProgress');
      expect(before.leaseEndUtc).toBeLessThanOrEqual(NOW_UTC);
      expect(verdict.takeovers).toBe(before.takeovers + 1);
    }),
  );
});
