import { describe, expect, test } from 'vitest';
import type { Origin } from '../../../functions/core/rules/envelope.ts';
import { type Claimant, judge, type LedgerRecord } from '../../../functions/core/rules/ledger.ts';

const NOW_UTC = Date.parse('2026-01-15T12:00:00.000Z');
const SINCE_UTC = Date.parse('2026-01-15T11:59:00.000Z');

/** The record of an event whose first attempt runs under a live lease. */
const aRecord = (over: Partial<LedgerRecord> = {}): LedgerRecord => ({
  kind: 'inProgress',
  generation: 0,
  attempt: 1,
  opener: '100',
  sequenceNumber: '100',
  owner: 'holder',
  leaseEndUtc: Date.parse('2026-01-15T12:00:30.000Z'),
  takeovers: 0,
  sinceUtc: SINCE_UTC,
  deadLetter: undefined,
  ...over,
});

const lapsed = (over: Partial<LedgerRecord> = {}) => aRecord({ leaseEndUtc: NOW_UTC, ...over });
const settled = (kind: LedgerRecord['kind'], over: Partial<LedgerRecord> = {}) =>
  aRecord({ kind, owner: '', leaseEndUtc: 0, ...over });
const dead = (kind: 'deadLettering' | 'deadLettered', over: Partial<LedgerRecord> = {}) =>
  settled(kind, {
    attempt: 3,
    sequenceNumber: '103',
    deadLetter: { messageId: 'order-1~r2~check', reason: 'AttemptsExhausted', description: 'attempt 3 of 3' },
    ...over,
  });

/** A copy that this consumer scheduled, unless `origin` says otherwise. */
function aClaimant({
  origin,
  ...over
}: Partial<Omit<Claimant, 'origin'>> & { origin?: Partial<Origin> } = {}): Claimant {
  return {
    generation: 0,
    attempt: 1,
    owner: 'someone else',
    ...over,
    origin: {
      messageId: 'order-1~r1~check',
      sequenceNumber: '200',
      enqueuedUtc: Date.parse('2026-01-15T11:58:00.000Z'),
      carriesDeadLetterMarks: false,
      isOurCopy: true,
      notBeforeUtc: Date.parse('2026-01-15T11:58:00.000Z'),
      ...origin,
    },
  };
}

const bare = (enqueued: string) => ({ isOurCopy: false, notBeforeUtc: undefined, enqueuedUtc: Date.parse(enqueued) });

describe('no record', () => {
  test('runs whatever comes, at its own place, and makes it the opener', () => {
    expect(judge(undefined, aClaimant({ generation: 2, attempt: 3 }), NOW_UTC)).toEqual({
      kind: 'run',
      generation: 2,
      attempt: 3,
      takeovers: 0,
      opener: '200',
    });
  });
});

describe('completed', () => {
  test.each([
    ['the same message again', aClaimant({ origin: { sequenceNumber: '100' } })],
    ['a later attempt', aClaimant({ attempt: 2 })],
    ['a replay', aClaimant({ generation: 1 })],
    ['a dead letter re-sent by hand', aClaimant({ origin: { carriesDeadLetterMarks: true } })],
    ['the event sent again by its producer', aClaimant({ origin: bare('2026-01-15T11:59:30Z') })],
  ])('ends %s as a duplicate', (_, claimant) => {
    expect(judge(settled('completed'), claimant, NOW_UTC)).toEqual({ kind: 'duplicate' });
  });
});

describe('in progress under a live lease', () => {
  const leaseEndUtc = Date.parse('2026-01-15T12:00:30.000Z');

  test('runs for the owner, whose reply was lost, without counting a takeover', () => {
    const claimant = aClaimant({ owner: 'holder', origin: { sequenceNumber: '100' } });

    expect(judge(aRecord({ takeovers: 2 }), claimant, NOW_UTC)).toEqual({
      kind: 'run',
      generation: 0,
      attempt: 1,
      takeovers: 2,
      opener: '100',
    });
  });

  test('is busy for another delivery of the same attempt', () => {
    expect(judge(aRecord(), aClaimant(), NOW_UTC)).toEqual({ kind: 'busy', leaseEndUtc, isNext: false });
  });

  test('is about to end for the next attempt of its generation', () => {
    expect(judge(aRecord(), aClaimant({ attempt: 2 }), NOW_UTC)).toEqual({ kind: 'busy', leaseEndUtc, isNext: true });
  });

  test.each([
    ['the attempt after next', aClaimant({ attempt: 3 })],
    ['the second attempt of the next generation', aClaimant({ generation: 1, attempt: 2 })],
    ['a dead letter re-sent by hand', aClaimant({ origin: { carriesDeadLetterMarks: true } })],
  ])('is busy, and not about to end, for %s', (_, claimant) => {
    expect(judge(aRecord(), claimant, NOW_UTC)).toEqual({ kind: 'busy', leaseEndUtc, isNext: false });
  });

  test('is live a millisecond before its end and lapsed at its end', () => {
    const verdictAt = (nowUtc: number) => judge(aRecord({ leaseEndUtc }), aClaimant(), nowUtc).kind;

    expect([verdictAt(leaseEndUtc - 1), verdictAt(leaseEndUtc)]).toEqual(['busy', 'run']);
  });
});

describe('in progress with its lease lapsed', () => {
  test('runs and counts one takeover more, for the same attempt', () => {
    expect(judge(lapsed({ takeovers: 1 }), aClaimant(), NOW_UTC)).toEqual({
      kind: 'run',
      generation: 0,
      attempt: 1,
      takeovers: 2,
      opener: '100',
    });
  });

  test('counts it for its own owner too, whose process may have died', () => {
    expect(judge(lapsed(), aClaimant({ owner: 'holder' }), NOW_UTC)).toMatchObject({ kind: 'run', takeovers: 1 });
  });

  test('starts counting anew for a later attempt', () => {
    expect(judge(lapsed({ takeovers: 1 }), aClaimant({ attempt: 2 }), NOW_UTC)).toEqual({
      kind: 'run',
      generation: 0,
      attempt: 2,
      takeovers: 0,
      opener: '100',
    });
  });

  test('ends an earlier attempt as stale', () => {
    expect(judge(lapsed({ attempt: 2 }), aClaimant(), NOW_UTC)).toEqual({ kind: 'stale' });
  });

  test('runs the first attempt of a generation again whose opener was re-sent by hand and tells of an earlier one', () => {
    const opener = aClaimant({ attempt: 3, origin: { sequenceNumber: '300', carriesDeadLetterMarks: true } });

    expect(judge(lapsed({ generation: 1, opener: '300' }), opener, NOW_UTC)).toEqual({
      kind: 'run',
      generation: 1,
      attempt: 1,
      takeovers: 1,
      opener: '300',
    });
  });

  test('leaves an attempt to the opener of its own generation', () => {
    const opener = aClaimant({ generation: 1, attempt: 2, origin: { sequenceNumber: '300' } });

    expect(judge(lapsed({ generation: 1, opener: '300' }), opener, NOW_UTC)).toMatchObject({ kind: 'run', attempt: 2 });
  });
});

describe('in progress to send a copy, with its lease lapsed', () => {
  const toSend = lapsed({ attempt: 2, isToSend: true });

  test.each([1, 2])('has attempt %i send the copy again, for the attempt itself has failed', (attempt) => {
    const verdict = { kind: 'sendAgain', generation: 0, attempt: 3 };

    expect(judge(toSend, aClaimant({ attempt }), NOW_UTC)).toEqual(verdict);
  });

  test('runs the copy, which was sent after all', () => {
    expect(judge(toSend, aClaimant({ attempt: 3 }), NOW_UTC)).toMatchObject({ kind: 'run', attempt: 3, takeovers: 0 });
  });

  test('ends any attempt of an earlier generation as stale, and runs a later one', () => {
    const later = { ...toSend, generation: 1 };

    expect(judge(later, aClaimant({ attempt: 2 }), NOW_UTC)).toEqual({ kind: 'stale' });
    expect(judge(later, aClaimant({ generation: 2 }), NOW_UTC)).toMatchObject({ kind: 'run', generation: 2 });
  });

  test('is busy while its lease is live, but for the owner, whose reply was lost', () => {
    const live = aRecord({ isToSend: true });

    expect(judge(live, aClaimant(), NOW_UTC).kind).toBe('busy');
    expect(judge(live, aClaimant({ owner: 'holder' }), NOW_UTC)).toEqual({
      kind: 'sendAgain',
      generation: 0,
      attempt: 2,
    });
  });
});

describe.each(['released', 'scheduled', 'unsent'] as const)('%s', (kind) => {
  test('runs the attempt it waits for', () => {
    expect(judge(settled(kind, { attempt: 2 }), aClaimant({ attempt: 2 }), NOW_UTC)).toEqual({
      kind: 'run',
      generation: 0,
      attempt: 2,
      takeovers: 0,
      opener: '100',
    });
  });

  test('runs a later attempt', () => {
    expect(judge(settled(kind, { attempt: 2 }), aClaimant({ attempt: 3 }), NOW_UTC)).toMatchObject({
      kind: 'run',
      attempt: 3,
      takeovers: 0,
    });
  });

  test('runs a replay, which opens its generation, at its own attempt', () => {
    expect(judge(settled(kind, { attempt: 3 }), aClaimant({ generation: 1 }), NOW_UTC)).toEqual({
      kind: 'run',
      generation: 1,
      attempt: 1,
      takeovers: 0,
      opener: '200',
    });
  });

  test('ends any attempt of an earlier generation as stale', () => {
    expect(judge(settled(kind, { generation: 1 }), aClaimant({ attempt: 3 }), NOW_UTC)).toEqual({ kind: 'stale' });
  });
});

describe('released', () => {
  test('keeps the takeovers of its attempt', () => {
    expect(judge(settled('released', { takeovers: 2 }), aClaimant(), NOW_UTC)).toMatchObject({ takeovers: 2 });
  });

  test('forgets them for a later attempt', () => {
    const claimant = aClaimant({ attempt: 2 });

    expect(judge(settled('released', { takeovers: 2 }), claimant, NOW_UTC)).toMatchObject({ takeovers: 0 });
  });

  test('ends an earlier attempt as stale', () => {
    expect(judge(settled('released', { attempt: 2 }), aClaimant(), NOW_UTC)).toEqual({ kind: 'stale' });
  });
});

describe('scheduled', () => {
  // Field case D1.
  test('ends the attempt that scheduled it as stale', () => {
    expect(judge(settled('scheduled', { attempt: 2 }), aClaimant(), NOW_UTC)).toEqual({ kind: 'stale' });
  });
});

describe('unsent', () => {
  test('has the attempt before send the copy again', () => {
    expect(judge(settled('unsent', { attempt: 2 }), aClaimant(), NOW_UTC)).toEqual({
      kind: 'sendAgain',
      generation: 0,
      attempt: 2,
    });
  });

  test('has its opener send again even where that knows nothing of the generation', () => {
    const claimant = aClaimant({ origin: { sequenceNumber: '300' } });

    expect(judge(settled('unsent', { generation: 1, attempt: 3, opener: '300' }), claimant, NOW_UTC)).toEqual({
      kind: 'sendAgain',
      generation: 1,
      attempt: 3,
    });
  });
});

describe('dead-lettering', () => {
  test.each([
    ['the same attempt', aClaimant({ attempt: 3 })],
    ['an earlier attempt', aClaimant()],
    ['a later attempt', aClaimant({ attempt: 4 })],
    ['its opener', aClaimant({ origin: { sequenceNumber: '100', ...bare('2026-01-15T11:59:30Z') } })],
  ])('dead-letters %s with the recorded reason', (_, claimant) => {
    expect(judge(dead('deadLettering'), claimant, NOW_UTC)).toEqual({
      kind: 'repeatDeadLetter',
      reason: 'AttemptsExhausted',
      description: 'attempt 3 of 3',
    });
  });

  test('dead-letters the dead-lettered message itself, however late the broker activated it', () => {
    const late = { messageId: 'order-1~r2~check', sequenceNumber: '103', enqueuedUtc: SINCE_UTC };

    expect(judge(dead('deadLettering'), aClaimant({ attempt: 3, origin: late }), NOW_UTC).kind).toBe(
      'repeatDeadLetter',
    );
  });

  test('runs a later generation', () => {
    expect(judge(dead('deadLettering'), aClaimant({ generation: 1 }), NOW_UTC)).toEqual({
      kind: 'run',
      generation: 1,
      attempt: 1,
      takeovers: 0,
      opener: '200',
    });
  });
});

describe('dead-lettered', () => {
  test.each([
    ['the same attempt', aClaimant({ attempt: 3 })],
    ['an earlier attempt', aClaimant()],
    ['a later attempt', aClaimant({ attempt: 4 })],
    ['an earlier generation', aClaimant({ attempt: 3 }), { generation: 1 }],
    ['its opener', aClaimant({ origin: { sequenceNumber: '100', ...bare('2026-01-15T11:59:30Z') } })],
  ])('ends %s as stale', (_, claimant, over: Partial<LedgerRecord> = {}) => {
    expect(judge(dead('deadLettered', over), claimant, NOW_UTC)).toEqual({ kind: 'stale' });
  });

  test('runs a later generation, which opens it', () => {
    expect(judge(dead('deadLettered'), aClaimant({ generation: 1 }), NOW_UTC)).toEqual({
      kind: 'run',
      generation: 1,
      attempt: 1,
      takeovers: 0,
      opener: '200',
    });
  });
});

describe('a revival', () => {
  const revived = { kind: 'run', generation: 1, attempt: 1, takeovers: 0, opener: '200' };
  const verdict = (origin: Partial<Origin>, record = dead('deadLettered')) =>
    judge(record, aClaimant({ attempt: 3, origin }), NOW_UTC);

  test('is known by the marks of a dead letter, and starts the next generation at attempt 1', () => {
    expect(verdict({ carriesDeadLetterMarks: true })).toEqual(revived);
  });

  const resent = {
    messageId: 'order-1~r2~check',
    notBeforeUtc: Date.parse('2026-01-15T11:59:30.000Z'),
    enqueuedUtc: Date.parse('2026-01-15T11:59:40.001Z'),
  };

  test('is known by the MessageId that was dead-lettered, on another message, enqueued clearly later than it was due', () => {
    expect(verdict(resent)).toEqual(revived);
  });

  test.each([
    ['it was enqueued when it was due', { enqueuedUtc: Date.parse('2026-01-15T11:59:40.000Z') }],
    [
      'it was enqueued before the last write',
      { notBeforeUtc: Date.parse('2026-01-15T11:00:00.000Z'), enqueuedUtc: SINCE_UTC },
    ],
    ['it is the message that was dead-lettered', { sequenceNumber: '103' }],
    ['it has another MessageId', { messageId: 'order-1~r1~check' }],
  ])('is not known by the MessageId where %s', (_, origin) => {
    expect(verdict({ ...resent, ...origin })).toEqual({ kind: 'stale' });
  });

  test('is known by the MessageId again where the broker has dead-lettered what was brought back', () => {
    const { deadLetter } = dead('deadLettered');
    const broughtBack = lapsed({ generation: 1, opener: '104', sequenceNumber: '104', deadLetter });

    expect(verdict(resent, broughtBack)).toEqual({ ...revived, generation: 2 });
  });

  test('is known by not being one of our copies and being enqueued after the last write', () => {
    expect(verdict(bare('2026-01-15T11:59:00.001Z'))).toEqual(revived);
  });

  test('is not what its producer sent before the last write', () => {
    expect(verdict(bare('2026-01-15T11:59:00.000Z'))).toEqual({ kind: 'stale' });
  });

  test('is not a late copy of ours, whenever it was enqueued', () => {
    expect(verdict({ enqueuedUtc: Date.parse('2026-01-15T11:59:30.000Z') })).toEqual({ kind: 'stale' });
  });

  test('starts the generation after the record, whatever its own', () => {
    const record = dead('deadLettered', { generation: 4 });

    expect(verdict({ carriesDeadLetterMarks: true }, record)).toEqual({ ...revived, generation: 5 });
  });

  test('keeps the generation of a replay that is ahead of the record', () => {
    const claimant = aClaimant({ generation: 7, attempt: 2, origin: { carriesDeadLetterMarks: true } });

    expect(judge(dead('deadLettered'), claimant, NOW_UTC)).toMatchObject({ generation: 7, attempt: 2 });
  });

  test('is the opener of its generation from then on, so that its own redelivery revives nothing again', () => {
    const record = dead('deadLettered', { generation: 1, opener: '200' });

    expect(verdict({ carriesDeadLetterMarks: true }, record)).toEqual({ kind: 'stale' });
  });
});
