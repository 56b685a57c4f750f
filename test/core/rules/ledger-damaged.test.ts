import { expect, test } from 'vitest';
import { judge, type LedgerRecord } from '../../../functions/core/rules/ledger.ts';

test('a dead letter whose record has lost its reason is dead-lettered all the same, with one that permits a replay', () => {
  const record: LedgerRecord = {
    kind: 'deadLettering',
    generation: 0,
    attempt: 3,
    opener: '100',
    sequenceNumber: '103',
    owner: '',
    leaseEndUtc: 0,
    takeovers: 0,
    sinceUtc: Date.parse('2026-01-15T11:59:00.000Z'),
    deadLetter: undefined,
  };
  const origin = {
    messageId: 'order-1~r2~check',
    sequenceNumber: '103',
    enqueuedUtc: Date.parse('2026-01-15T11:58:00.000Z'),
    carriesDeadLetterMarks: false,
    isOurCopy: true,
    notBeforeUtc: Date.parse('2026-01-15T11:58:00.000Z'),
  };
  const claimant = { generation: 0, attempt: 3, owner: 'someone else', origin };
  expect(judge(record, claimant, Date.parse('2026-01-15T12:00:00.000Z'))).toEqual({
    kind: 'repeatDeadLetter',
    reason: 'AttemptsExhausted',
    description: '',
  });
});
