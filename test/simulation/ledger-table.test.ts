import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  type Claimant,
  judge,
  type LedgerRecord,
  type RecordKind,
  type Verdict,
} from '../../functions/core/rules/ledger.ts';

/**
 * A line of the fixture, printed by the exhaustive model of the protocol (`protocol-model.py --table`): a record, a
 * delivery, the verdict, and for what is claimed the generation and attempt to claim. Flags are 0 or 1.
 */
type Line = [
  kind: RecordKind | 'none',
  generation: number,
  attempt: number,
  leaseIsLive: number,
  isToSend: number,
  deliveryGeneration: number,
  deliveryAttempt: number,
  isOpener: number,
  isOwner: number,
  isOurCopy: number,
  carriesDeadLetterMarks: number,
  enqueuedAfterOutcome: number,
  verdict: 'run' | 'send-again' | 'busy' | 'repeat-dead-letter' | 'duplicate' | 'stale',
  asGeneration?: number,
  asAttempt?: number,
];

const NOW_UTC = Date.UTC(2026, 0, 15, 12, 0, 0);
const SINCE_UTC = NOW_UTC - 60_000;
const VERDICTS = {
  run: 'run',
  sendAgain: 'send-again',
  busy: 'busy',
  repeatDeadLetter: 'repeat-dead-letter',
  duplicate: 'duplicate',
  stale: 'stale',
} as const satisfies Record<Verdict['kind'], Line[12]>;

const lines = readFileSync(new URL('./ledger-table.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Line);

function recordOf([kind, generation, attempt, leaseIsLive, isToSend]: Line): LedgerRecord | undefined {
  if (kind === 'none') return undefined;
  return {
    kind,
    generation,
    attempt,
    opener: '1',
    sequenceNumber: '2',
    owner: kind === 'inProgress' ? 'owner' : '',
    leaseEndUtc: leaseIsLive ? NOW_UTC + 1 : NOW_UTC,
    takeovers: 0,
    isToSend: isToSend === 1,
    sinceUtc: SINCE_UTC,
    deadLetter: { messageId: 'dead', reason: 'AttemptsExhausted', description: '' },
  };
}

function claimantOf(line: Line): Claimant {
  const [, , , , , generation, attempt, isOpener, isOwner, isOurCopy, carriesDeadLetterMarks, enqueuedAfterOutcome] =
    line;
  return {
    generation,
    attempt,
    owner: isOwner ? 'owner' : 'someone else',
    origin: {
      messageId: 'm',
      sequenceNumber: isOpener ? '1' : '3',
      enqueuedUtc: enqueuedAfterOutcome ? SINCE_UTC + 1 : SINCE_UTC,
      carriesDeadLetterMarks: carriesDeadLetterMarks === 1,
      isOurCopy: isOurCopy === 1,
      notBeforeUtc: isOurCopy ? SINCE_UTC : undefined,
    },
  };
}

test('answers each of the 6,120 cases of the model as the model does', () => {
  const answers = lines.map((line) => {
    const verdict = judge(recordOf(line), claimantOf(line), NOW_UTC);
    const claimed = verdict.kind === 'run' || verdict.kind === 'sendAgain' ? [verdict.generation, verdict.attempt] : [];
    return [...line.slice(0, 12), VERDICTS[verdict.kind], ...claimed];
  });

  expect(lines).toHaveLength(6_120);
  expect(answers).toEqual(lines);
});

test('the cases are distinct and hold every verdict', () => {
  const cases = new Set(lines.map((line) => line.slice(0, 12).join()));
  const counts = Object.groupBy(lines, (line) => line[12]);

  expect(cases.size).toBe(6_120);
  expect(Object.fromEntries(Object.entries(counts).map(([verdict, cases]) => [verdict, cases?.length]))).toEqual({
    run: 3_525,
    'send-again': 741,
    busy: 1_080,
    'repeat-dead-letter': 189,
    duplicate: 90,
    stale: 495,
  });
});
