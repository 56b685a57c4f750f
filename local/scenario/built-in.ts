import { policySettingName } from '../../functions/core/settings.ts';
import type { InputMessage } from './input.ts';
import type { Result } from './result.ts';

const order = (messageId: string, currency: string, provider: InputMessage['provider']): InputMessage => ({
  messageId,
  body: Buffer.from(JSON.stringify({ orderId: `order-${messageId}`, amount: 25, currency })),
  contentType: 'application/json',
  applicationProperties: {},
  sessionId: undefined,
  timeToLiveInMs: undefined,
  provider,
});

/** A's provider recovers, B can never succeed, C's provider stays down. */
export const BUILT_IN_MESSAGES: readonly InputMessage[] = [
  order('A', 'EUR', [503, 503, 200]),
  order('B', 'XXX', [200]),
  order('C', 'EUR', [503]),
];

/** Where the built-in messages go. */
export const BUILT_IN_QUEUE = 'billing-order-placed';

/** Delays 1, 2, 4 s without chance, so that a run can be watched. */
const POLICY = {
  attempts: '4',
  tries: '1',
  baseDelayInMs: '1000',
  multiplier: '2',
  jitter: 'none',
  handlerTimeoutInMs: '3000',
} as const;

/** The policy of a run, as settings of these events. */
export const scenarioSettings = (events: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    events.flatMap((event) =>
      Object.entries(POLICY).map(([field, value]) => [policySettingName(event, field as keyof typeof POLICY), value]),
    ),
  );

type Row = readonly [
  messageId: string,
  attempt: number,
  outcome: string,
  reason: string | null,
  delayMs: number | null,
  earliestMs: number,
];

/** What must happen, and how early at most. How late it may be is not said: a slow machine is no fault. */
const EXPECTED: readonly Row[] = [
  ['A', 1, 'redelivered', 'Http503', 1_000, 0],
  ['A', 2, 'redelivered', 'Http503', 2_000, 1_000],
  ['A', 3, 'succeeded', null, null, 3_000],
  ['B', 1, 'dead-lettered', 'UnsupportedCurrency', null, 0],
  ['C', 1, 'redelivered', 'Http503', 1_000, 0],
  ['C', 2, 'redelivered', 'Http503', 2_000, 1_000],
  ['C', 3, 'redelivered', 'Http503', 4_000, 3_000],
  ['C', 4, 'dead-lettered', 'AttemptsExhausted', null, 7_000],
];

/** Where the result differs from what the built-in scenario must give; a sentence each. */
export function differences(result: Omit<Result, 'ok'>): string[] {
  const rows = result.events.flatMap(({ messageId, attempts }) =>
    attempts.map((attempt) => ({ messageId, ...attempt })),
  );
  const found: string[] = [];
  for (const [at, [messageId, attempt, outcome, reason, delayMs, earliestMs]] of EXPECTED.entries()) {
    const row = rows[at];
    const expected = JSON.stringify([messageId, attempt, outcome, reason, delayMs]);
    const got = row && JSON.stringify([row.messageId, row.attempt, row.outcome, row.reason, row.delayMs]);
    if (got !== expected) found.push(`row ${at + 1}: expected ${expected}, got ${got ?? 'none'}`);
    else if (row && row.atMs < earliestMs)
      found.push(`row ${at + 1}: at ${row.atMs} ms, expected not before ${earliestMs} ms`);
  }
  if (rows.length > EXPECTED.length) found.push(`expected ${EXPECTED.length} attempts, got ${rows.length}`);
  const letters = JSON.stringify(
    result.deadLetterQueue.map(({ messageId, reason }) => [messageId.split('~')[0], reason]),
  );
  const expectedLetters = '[["B","UnsupportedCurrency"],["C","AttemptsExhausted"]]';
  if (letters !== expectedLetters) found.push(`dead-letter queue: expected ${expectedLetters}, got ${letters}`);
  const charges = JSON.stringify(result.charges);
  const expectedCharges = '[{"orderId":"order-A","count":1}]';
  if (charges !== expectedCharges) found.push(`charges: expected ${expectedCharges}, got ${charges}`);
  return found;
}
