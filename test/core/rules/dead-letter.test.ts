import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  deadLetterOf,
  extendHistory,
  REASONS,
  repeatedDeadLetterOf,
  writeHistory,
} from '../../../functions/core/rules/dead-letter.ts';
import { int, string } from '../../../functions/core/rules/delivery.ts';
import type { PastFailure } from '../../../functions/core/rules/envelope.ts';
import { sizeInBytes } from '../../../functions/core/rules/text.ts';
import { anEnvelope, anOrigin, ENQUEUED_UTC, NOW_UTC } from '../../fixtures/deliveries.ts';

const failure = { reason: 'AttemptsExhausted', code: 'Http503', message: 'the provider is down' };
const place = { attempt: 4, maxAttempts: 4, generation: 0 };

const aPastFailure = (changes: Partial<PastFailure> = {}): PastFailure => ({
  generation: 0,
  attempt: 1,
  at: '2026-01-05T09:00:01.000Z',
  code: 'Http503',
  message: 'down',
  ...changes,
});

describe('the reasons', () => {
  it('are those of the design, each with what a replay can achieve', () => {
    expect(Object.entries(REASONS).map(([code, { replay }]) => [code, replay])).toEqual([
      ['MalformedBody', 'after-fix'],
      ['SchemaViolation', 'after-fix'],
      ['UnclassifiedFailure', 'after-fix'],
      ['AttemptsExhausted', 'now'],
      ['RetryWindowExceeded', 'now'],
      ['TimeToLiveExceeded', 'now'],
      ['PoisonMessage', 'after-fix'],
      ['DeliveriesExhausted', 'now'],
      ['IdempotencyConflict', 'as a new event'],
      ['MessageTooLarge', 'after-fix'],
      ['CopyRefused', 'after-fix'],
      ['ReplayLimitExceeded', 'never'],
    ]);
  });

  it('each fit the limit and give the operator a sentence', () => {
    for (const [code, { hint }] of Object.entries(REASONS)) {
      expect(code.length).toBeLessThan(64);
      expect(hint).toMatch(/^[A-Z].{20,}\.$/);
    }
  });
});

describe('a dead letter', () => {
  it('says what failed, which attempt of how many it was, and when it failed first and last', () => {
    const history = [aPastFailure()];
    const envelope = anEnvelope({ firstFailedUtc: ENQUEUED_UTC + 1_000, history });
    expect(deadLetterOf(envelope, failure, place, NOW_UTC)).toEqual({
      reason: 'AttemptsExhausted',
      description:
        'attempt 4 of 4, first failed 2026-01-05T09:00:01.000Z, last failed 2026-01-05T09:00:10.000Z: Http503: the provider is down',
      properties: new Map([
        ['retry-error-code', string('Http503')],
        ['retry-error-message', string('the provider is down')],
        ['retry-first-failed-utc', string('2026-01-05T09:00:01.000Z')],
        ['retry-last-failed-utc', string('2026-01-05T09:00:10.000Z')],
        [
          'retry-history',
          string(
            JSON.stringify([
              ...history,
              {
                generation: 0,
                attempt: 4,
                at: '2026-01-05T09:00:10.000Z',
                code: 'Http503',
                message: 'the provider is down',
              },
            ]),
          ),
        ],
      ]),
    });
  });

  it('of a first attempt has failed first when it failed last', () => {
    const { description } = deadLetterOf(anEnvelope(), failure, { ...place, attempt: 1 }, NOW_UTC);
    expect(description).toBe(
      'attempt 1 of 4, first failed 2026-01-05T09:00:10.000Z, last failed 2026-01-05T09:00:10.000Z: Http503: the provider is down',
    );
  });

  it('carries its generation from the first replay on', () => {
    const { properties } = deadLetterOf(anEnvelope(), failure, { ...place, generation: 2 }, NOW_UTC);
    expect(properties.get('replay-count')).toEqual(int(2));
  });

  it.each(['deadLetterOf', 'repeatedDeadLetterOf'])(
    'of a deferral says that it defers nothing any more, by %s',
    (by) => {
      const deferred = anEnvelope({ deferrals: 3 });
      const letter =
        by === 'deadLetterOf'
          ? deadLetterOf(deferred, failure, { attempt: 1, maxAttempts: 4, generation: 0 }, NOW_UTC)
          : repeatedDeadLetterOf(deferred, { reason: 'R', description: 'D' }, 0);
      expect(letter.properties.get('retry-deferrals')).toEqual({ type: 'int', value: 0 });
    },
  );

  it('that is repeated keeps what was recorded, and carries its generation', () => {
    expect(repeatedDeadLetterOf(anEnvelope(), { reason: 'R', description: 'D' }, 2)).toEqual({
      reason: 'R',
      description: 'D',
      properties: new Map([['replay-count', { type: 'int', value: 2 }]]),
    });
  });

  it('of a generation that the ledger has opened does not count the failures of the one before', () => {
    const envelope = anEnvelope({ firstFailedUtc: ENQUEUED_UTC, origin: anOrigin({ enqueuedUtc: NOW_UTC }) });
    const { properties } = deadLetterOf(envelope, failure, { ...place, generation: 1 }, NOW_UTC + 5_000);
    expect(properties.get('retry-first-failed-utc')).toEqual(string('2026-01-05T09:00:15.000Z'));
  });

  it('shows no secret', () => {
    const leak = { reason: 'X', code: 'Bearer abc', message: 'AccountKey=abc;' };
    const letter = deadLetterOf(anEnvelope(), leak, place, NOW_UTC);
    expect(JSON.stringify([letter, ...letter.properties])).not.toContain('abc');
    expect(letter.properties.get('retry-error-message')).toEqual(string('AccountKey=[redacted];'));
    expect(letter.description).toMatch(/: Bearer \[redacted\] AccountKey=\[redacted\];$|: AccountKey=\[redacted\];$/);
  });

  it.each([
    ['one line', 'Unsupported\n\tCurrency ', 'Unsupported Currency'],
    ['never empty', ' \u0000\n', 'UnclassifiedFailure'],
    ['under 64 characters', 'R'.repeat(100), `${'R'.repeat(60)}…`],
    ['as long as that', 'R'.repeat(63), 'R'.repeat(63)],
  ])('has a reason that is %s', (_, reason, expected) => {
    expect(deadLetterOf(anEnvelope(), { ...failure, reason }, place, NOW_UTC).reason).toBe(expected);
  });

  // I1
  it.each([
    ['4,096 characters', 'x'.repeat(4_096)],
    ['100,000 characters', 'x'.repeat(100_000)],
    ['emoji', '😀'.repeat(4_096)],
    ['lone surrogates', '\ud83d'.repeat(5_000)],
    ['control characters', '\u0000\u0007\u001b'.repeat(5_000)],
    ['line breaks and quotes, which JSON doubles', '"\n\\'.repeat(5_000)],
  ])('stays within the limits of the service where the error is made of %s', (_, text) => {
    const { reason, description, properties } = deadLetterOf(
      anEnvelope({ history: Array.from({ length: 10 }, () => aPastFailure({ code: text, message: text })) }),
      { reason: text, code: text, message: text },
      place,
      NOW_UTC,
    );
    expect(sizeInBytes(reason)).toBeLessThan(64);
    expect(sizeInBytes(description)).toBeLessThanOrEqual(4_096);
    expect(sizeInBytes(String(properties.get('retry-error-code')?.value))).toBeLessThanOrEqual(128);
    expect(sizeInBytes(String(properties.get('retry-error-message')?.value))).toBeLessThanOrEqual(512);
    expect(sizeInBytes(String(properties.get('retry-history')?.value))).toBeLessThanOrEqual(4_096);
  });

  it('fills its limits before it is cut', () => {
    const long = { reason: 'R', code: 'C'.repeat(200), message: 'x'.repeat(8_000) };
    const { description, properties } = deadLetterOf(anEnvelope(), long, place, NOW_UTC);
    expect(sizeInBytes(description)).toBe(4_096);
    expect(properties.get('retry-error-code')).toEqual(string(`${'C'.repeat(125)}…`));
    expect(properties.get('retry-error-message')).toEqual(string(`${'x'.repeat(509)}…`));
  });

  it('stays within the limits whatever the error says', () => {
    const text = fc.string({ unit: 'binary', maxLength: 6_000 });
    fc.assert(
      fc.property(text, text, text, fc.integer(), (reason, code, message, nowUtc) => {
        const letter = deadLetterOf(anEnvelope(), { reason, code, message }, place, nowUtc);
        expect(letter.reason).toMatch(/^\S(.*\S)?$/);
        expect(sizeInBytes(letter.reason)).toBeLessThan(64);
        expect(sizeInBytes(letter.description)).toBeLessThanOrEqual(4_096);
        const properties = [...letter.properties.values()].map(({ value }) => String(value));
        expect(Math.max(...properties.map(sizeInBytes))).toBeLessThanOrEqual(4_096);
        expect([letter.reason, letter.description, ...properties].every((value) => value.isWellFormed())).toBe(true);
      }),
    );
  });
});

describe('the history', () => {
  const attempts = (from: number, to: number): PastFailure[] =>
    Array.from({ length: to - from + 1 }, (_, index) => aPastFailure({ attempt: from + index }));
  const attemptsIn = (written: string): number[] =>
    (JSON.parse(written) as PastFailure[]).map(({ attempt }) => attempt);

  it('grows by each failure', () => {
    const [first, second] = [aPastFailure(), aPastFailure({ attempt: 2, code: 'Http429' })];
    expect(extendHistory([], first)).toBe(JSON.stringify([first]));
    expect(extendHistory([first], second)).toBe(JSON.stringify([first, second]));
  });

  it('keeps the first three and the last seven', () => {
    expect(attemptsIn(writeHistory(attempts(1, 10)))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(attemptsIn(writeHistory(attempts(1, 12)))).toEqual([1, 2, 3, 6, 7, 8, 9, 10, 11, 12]);
  });

  it('keeps them hop by hop as well', () => {
    let history: PastFailure[] = [];
    for (const failed of attempts(1, 60)) history = JSON.parse(extendHistory(history, failed)) as PastFailure[];
    expect(history).toEqual([...attempts(1, 3), ...attempts(54, 60)]);
  });

  it('drops the oldest that is none of the first where there is no room for all', () => {
    // 200 line breaks are 400 bytes of JSON: nine such entries fit.
    const long = attempts(1, 10).map((failed) => ({ ...failed, message: '\n'.repeat(200) }));
    const written = writeHistory(long);
    expect(attemptsIn(written)).toEqual([1, 2, 3, 6, 7, 8, 9, 10]);
    expect(sizeInBytes(written)).toBeLessThanOrEqual(4_096);
  });

  it('bounds what an entry says, and shows no secret', () => {
    const entry = aPastFailure({ at: 'a'.repeat(100), code: 'c'.repeat(100), message: `pwd=abc; ${'m'.repeat(300)}` });
    expect(JSON.parse(writeHistory([entry]))).toEqual([
      {
        ...entry,
        at: `${'a'.repeat(29)}…`,
        code: `${'c'.repeat(61)}…`,
        message: `pwd=[redacted]; ${'m'.repeat(181)}…`,
      },
    ]);
  });

  it('has nothing but what belongs to an entry', () => {
    expect(writeHistory([{ ...aPastFailure(), extra: 'x' } as PastFailure])).toBe(JSON.stringify([aPastFailure()]));
  });

  it('takes at most 4 KB and keeps the newest, whatever it holds', () => {
    const text = fc.string({ unit: 'binary', maxLength: 400 });
    const entry = fc.record({ generation: fc.nat(), attempt: fc.nat(), at: text, code: text, message: text });
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 15 }), entry, (history, newest) => {
        const written = extendHistory(history, newest);
        expect(sizeInBytes(written)).toBeLessThanOrEqual(4_096);
        expect(attemptsIn(written).at(-1)).toBe(newest.attempt);
      }),
    );
  });
});
