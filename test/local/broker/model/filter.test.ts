import { expect, test } from 'vitest';
import type { Fields } from '../../../../local/broker/model/content.ts';
import { changesOf, selects, sqlAction, sqlFilter } from '../../../../local/broker/model/filter/rule.ts';

const fields: Fields = {
  messageId: 'm-1',
  subject: 'created',
  sessionId: undefined,
  applicationProperties: new Map<string, unknown>([
    ['colour', 'red'],
    ['amount', 12.5],
    ['count', 7],
    ['urgent', true],
    ['retry-attempt', 2],
    ['note', "it's 100%"],
  ]),
};

test.each([
  ['1 = 1'],
  ["colour = 'red'"],
  ["user.colour <> 'blue'"],
  ["[retry-attempt] >= 2 AND property('retry-attempt') < 3"],
  ["sys.MessageId = 'm-1' and SYS.Label = 'created' and sys.subject LIKE 'c%'"],
  ['amount * 2 = 25 AND -count < 0 AND count % 2 = 1 AND count / 2 > 3'],
  ['count + 1 * 2 = 9 AND (count + 1) * 2 = 16'],
  ['urgent = TRUE'],
  ["colour IN ('blue', 'red')"],
  ["colour NOT IN ('blue', 'green')"],
  ["colour LIKE 'r_d' AND colour NOT LIKE 'r_'"],
  ["note LIKE 'it''s 100!%' ESCAPE '!'"],
  ['missing IS NULL AND colour IS NOT NULL'],
  ['EXISTS(colour) AND NOT EXISTS (missing) AND sys.SessionId IS NULL'],
  ["NOT (colour = 'blue') OR missing = 1"],
  ["missing = 1 OR colour = 'red' -- unknown or true is true"],
  ['0x10 = 16 AND 1.5e1 = 15'],
])('selects by %s', (text) => {
  expect(selects(sqlFilter(text), fields)).toBe(true);
});

test.each([
  ['1 = 0'],
  ["colour = 'RED'"],
  ['missing = 1'],
  ['NOT missing = 1'],
  ['missing <> 1'],
  ["missing = 1 AND colour = 'red'"],
  ['colour > 1'],
  ["count = '7'"],
  ['missing IN (1, 2)'],
  ["colour LIKE 're'"],
  ['amount / 0 = 0'],
])('does not select by %s', (text) => {
  expect(selects(sqlFilter(text), fields)).toBe(false);
});

test.each([
  ['colour = ', /Unexpected 'the end'/],
  ['colour', /Expected a condition/],
  ["colour = 'red' 'blue'", /Unexpected 'blue'/],
  ["colour = 'red", /Unexpected '''/],
  ['1 = (2 = 2)', /Expected a value/],
  ['1 IS NULL', /Expected a property/],
  ['colour = @p', /The parameter '@p' has no value/],
  ['newid() = 1', /The function 'NEWID' is not supported by this broker/],
  ['sys.EnqueuedTimeUtc > 1', /The system property 'sys.EnqueuedTimeUtc' is not supported by this broker/],
])('refuses %s by name', (text, expected) => {
  expect(() => sqlFilter(text)).toThrow(expected);
});

test('sets and removes properties, each statement seeing what those before it did', () => {
  const action = sqlAction("SET count = count + 1; SET twice = count * 2; REMOVE colour; SET [a b] = 'x'");
  expect([...changesOf(action, fields)]).toEqual([
    ['count', 8],
    ['twice', 16],
    ['colour', undefined],
    ['a b', 'x'],
  ]);
});

test('refuses an action on a system property by name', () => {
  expect(() => sqlAction("SET sys.To = 'x'")).toThrow(
    "The system property 'to' cannot be set by an action of this broker.",
  );
});

test('puts values in the place of parameters, in filters and in actions', () => {
  const parameters = new Map<string, string | number | boolean>([
    ['@least', 10],
    ['@colour', 'red'],
  ]);
  expect(selects(sqlFilter('amount + 1 >= @least AND colour = @colour', parameters), fields)).toBe(true);
  expect(selects(sqlFilter('amount < @least', parameters), fields)).toBe(false);
  expect(changesOf(sqlAction('SET colour = @colour; SET next = @least + 1', parameters), fields)).toEqual(
    new Map<string, unknown>([
      ['colour', 'red'],
      ['next', 11],
    ]),
  );
});
