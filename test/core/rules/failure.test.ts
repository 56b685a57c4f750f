import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HttpStatusError, PermanentError, TransientError } from '../../../functions/core/rules/errors.ts';
import { classify, type Failure, TRANSIENT_CODES } from '../../../functions/core/rules/failure.ts';
import type { PolicyRule } from '../../../functions/core/rules/policy.ts';
import { sizeInBytes } from '../../../functions/core/rules/text.ts';

const transient = (code: string, message: string, retryAfter: { inMs: number } | undefined = undefined): Failure => ({
  kind: 'transient',
  code,
  message,
  retryAfter,
});
const permanent = (reason: string, message: string, code = reason): Failure => ({
  kind: 'permanent',
  reason,
  code,
  message,
});
const unclassified = (code: string, message: string): Failure => ({ kind: 'unclassified', code, message });
const withFields = (message: string, fields: object): Error => Object.assign(new Error(message), fields);

describe('what a handler declares', () => {
  it('is permanent with its own code', () => {
    expect(classify(new PermanentError('UnsupportedCurrency', 'XXX'))).toEqual(permanent('UnsupportedCurrency', 'XXX'));
  });

  it('is transient with its own delay', () => {
    expect(classify(new TransientError('busy', { code: 'Busy', retryAfterInMs: 5_000 }))).toEqual(
      transient('Busy', 'busy', { inMs: 5_000 }),
    );
  });

  it('counts by its mark, from another copy of this package too', () => {
    expect(classify({ failure: 'permanent', code: 'C', message: 'm' })).toEqual(permanent('C', 'm'));
    expect(classify({ failure: 'transient', code: 'C', message: 'm' })).toEqual(transient('C', 'm'));
  });

  it('needs a code for its mark to count', () => {
    expect(classify({ failure: 'permanent', message: 'm' })).toEqual(unclassified('object', 'm'));
    expect(classify({ failure: 'lasting', code: 'C', message: 'm' })).toEqual(unclassified('C', 'm'));
  });

  it('beats every rule of the policy and every default, however deep it lies', () => {
    const error = withFields('outer', {
      code: 'ECONNRESET',
      cause: new PermanentError('Closed', 'the account is closed'),
    });
    expect(classify(error, [{ when: { code: 'ECONNRESET' }, is: 'transient' }])).toEqual(
      permanent('Closed', 'the account is closed'),
    );
  });

  it('counts outermost first', () => {
    const cause = new PermanentError('Inner', 'inner');
    expect(classify(new TransientError('outer', { cause }))).toEqual(transient('TransientError', 'outer'));
    expect(classify(new PermanentError('Outer', 'outer', { cause: new TransientError('inner') }))).toEqual(
      permanent('Outer', 'outer'),
    );
  });

  it('is permanent where an aggregate holds both, in either order', () => {
    const both = [new TransientError('again'), new PermanentError('Never', 'never')];
    expect(classify(new AggregateError(both, 'both'))).toEqual(permanent('Never', 'never'));
    expect(classify(new AggregateError(both.reverse(), 'both'))).toEqual(permanent('Never', 'never'));
  });

  it('is the first of several that say the same', () => {
    const two = [new PermanentError('First', '1'), new PermanentError('Second', '2')];
    expect(classify(new AggregateError(two, 'two'))).toEqual(permanent('First', '1'));
    const again = [new TransientError('1', { code: 'First' }), new TransientError('2', { code: 'Second' })];
    expect(classify(new AggregateError(again, 'two'))).toEqual(transient('First', '1'));
  });
});

describe('the defaults', () => {
  it.each([
    'ECONNRESET',
    'ECONNREFUSED',
    'ECONNABORTED',
    'EPIPE',
    'ETIMEDOUT',
    'EAI_AGAIN',
    'ENOTFOUND',
    'EHOSTUNREACH',
    'ENETUNREACH',
    'UND_ERR_SOCKET',
    'UND_ERR_HEADERS_TIMEOUT',
    '40P01',
    '40001',
  ])('take code %s for transient', (code) => {
    expect(classify(withFields('m', { code }))).toEqual(transient(code, 'm'));
  });

  it('name no other code', () => {
    expect(TRANSIENT_CODES.size).toBe(11);
  });

  it.each(['EACCES', 'ERR_INVALID_URL', 'X_UND_ERR_SOCKET', 'econnreset', '23505', 'ABORT_ERR'])(
    'do not know code %s',
    (code) => {
      expect(classify(withFields('m', { code }))).toEqual(unclassified(code, 'm'));
    },
  );

  it.each([401, 403, 408, 425, 429, 500, 502, 503, 504, 507, 599])('take status %i for transient', (status) => {
    expect(classify(new HttpStatusError(status, 'm'))).toEqual(transient(`Http${status}`, 'm'));
  });

  it.each([400, 402, 404, 409, 410, 422, 499, 501, 505])('do not know status %i', (status) => {
    expect(classify(new HttpStatusError(status, 'm'))).toEqual(unclassified(`Http${status}`, 'm'));
  });

  it.each([
    ['statusCode', { statusCode: 503 }],
    ['a response', { response: { status: 503 } }],
    ['a response of another client', { response: { statusCode: 503 } }],
    ['the metadata of an SDK', { $metadata: { httpStatusCode: 503 } }],
  ])('find a status in %s', (_, fields) => {
    expect(classify(withFields('m', fields))).toEqual(transient('Http503', 'm'));
  });

  it.each([200, 399, 600, 503.5, '503', Number.NaN])('take %j for no status', (status) => {
    expect(classify(withFields('m', { status }))).toEqual(unclassified('Error', 'm'));
  });

  it('take what is no status on the error for none and look on', () => {
    expect(classify(withFields('m', { status: 0, statusCode: 503 }))).toEqual(transient('Http503', 'm'));
  });

  it.each([
    ['a deadlock of SQL Server', { number: 1205, code: 'EREQUEST' }, 'EREQUEST'],
    ['a timeout of the platform', { name: 'TimeoutError' }, 'TimeoutError'],
    ['an SDK error that says it is retryable', { retryable: true, code: 'ServiceBusy' }, 'ServiceBusy'],
  ])('take %s for transient', (_, fields, code) => {
    expect(classify(withFields('m', fields))).toEqual(transient(code, 'm'));
  });

  it.each([{ number: 2627 }, { name: 'TypeError' }, { retryable: false }, { retryable: 'true' }])(
    'do not know %j',
    (fields) => {
      expect(classify(withFields('m', fields)).kind).toBe('unclassified');
    },
  );

  it('know the timeout of an abort signal', () => {
    const error = new DOMException('The operation timed out.', 'TimeoutError');
    expect(classify(error)).toEqual(transient('TimeoutError', 'The operation timed out.'));
  });

  // H2: a handler that cannot parse an answer has failed itself; the message is not malformed.
  it('do not take a parse error of the handler for a malformed message', () => {
    let thrown: unknown;
    try {
      JSON.parse('<html>502</html>');
    } catch (error) {
      thrown = error;
    }
    expect(classify(thrown)).toEqual(unclassified('SyntaxError', expect.stringContaining('is not valid JSON')));
  });

  it('look at codes before statuses, whatever their depth', () => {
    const cause = withFields('reset', { code: 'ECONNRESET' });
    expect(classify(new HttpStatusError(404, 'no', { cause }))).toEqual(transient('ECONNRESET', 'reset'));
  });

  it('count the outermost status', () => {
    const error = new HttpStatusError(503, 'gateway', { cause: new HttpStatusError(400, 'behind') });
    expect(classify(error)).toEqual(transient('Http503', 'gateway'));
  });

  it('are not transient where an aggregate holds a status that is not, in either order', () => {
    const both = [new HttpStatusError(503, 'down'), new HttpStatusError(404, 'none')];
    expect(classify(new AggregateError(both))).toEqual(unclassified('Http404', 'none'));
    expect(classify(new AggregateError(both.reverse()))).toEqual(unclassified('Http404', 'none'));
  });
});

describe('what wraps an error', () => {
  const reset = withFields('reset', { code: 'ECONNRESET' });

  it.each(['cause', 'error', 'suppressed', 'originalError', 'original', 'innerError'])(
    'is looked through: %s',
    (name) => {
      expect(classify(withFields('outer', { [name]: reset }))).toEqual(transient('ECONNRESET', 'reset'));
    },
  );

  it('is looked through in several layers, and in aggregates', () => {
    const error = new Error('1', { cause: new AggregateError([new Error('2'), new Error('3', { cause: reset })]) });
    expect(classify(error)).toEqual(transient('ECONNRESET', 'reset'));
  });

  it('may be no error, and may wrap itself', () => {
    const error: { cause?: unknown; errors?: unknown[] } = { cause: undefined };
    error.cause = error;
    error.errors = [error, 'text', null, 5];
    expect(classify(error)).toEqual(unclassified('object', 'an error that cannot be read'));
    expect(classify(Object.assign(() => undefined, { cause: reset }))).toEqual(transient('ECONNRESET', 'reset'));
    const callable = Object.assign(() => undefined, { code: 'EPIPE', message: 'broken' });
    expect(classify(new Error('outer', { cause: callable }))).toEqual(transient('EPIPE', 'broken'));
  });

  it('counts once, however often it is named', () => {
    const error: { message: string; errors?: unknown[] } = { message: 'm' };
    error.errors = [...Array.from({ length: 63 }, () => error), reset];
    expect(classify(error)).toEqual(transient('ECONNRESET', 'reset'));
    const other = new Error('other');
    expect(classify({ errors: [...Array.from({ length: 63 }, () => other), reset] })).toEqual(
      transient('ECONNRESET', 'reset'),
    );
  });

  it('counts only where it is an object: a text says nothing that a rule can hold to', () => {
    const error = new AggregateError(['text', undefined], 'outer', { cause: 'text' });
    const rules: PolicyRule[] = [{ when: { matches: (inner) => typeof inner !== 'object' }, is: 'transient' }];
    expect(classify(error, rules)).toEqual(unclassified('AggregateError', 'outer'));
  });

  it('is looked through to the 64th error, and no further', () => {
    const nested = (depth: number): Error =>
      Array.from({ length: depth }).reduce<Error>((cause) => new Error('outer', { cause }), reset);
    expect(classify(nested(63))).toEqual(transient('ECONNRESET', 'reset'));
    expect(classify(nested(64))).toEqual(unclassified('Error', 'outer'));
  });

  it('is looked through in the first 64 of an aggregate', () => {
    const many = (before: number) =>
      new AggregateError([...Array.from({ length: before }, () => new Error('x')), reset], 'many');
    expect(classify(many(62))).toEqual(transient('ECONNRESET', 'reset'));
    expect(classify(many(63))).toEqual(unclassified('AggregateError', 'many'));
    expect(classify({ message: 'm', errors: { length: 1e15, 0: reset } })).toEqual(transient('ECONNRESET', 'reset'));
  });

  it('keeps what the response said about when to come back', () => {
    const cause = new HttpStatusError(429, 'slow down', { retryAfter: '120' });
    expect(classify(new TransientError('later', { cause }))).toEqual(
      transient('TransientError', 'later', { inMs: 120_000 }),
    );
    expect(classify(new TransientError('later', { cause, retryAfterInMs: 5 }))).toEqual(
      transient('TransientError', 'later', { inMs: 5 }),
    );
  });

  it('keeps the delay of the error that decides before that of one around it', () => {
    const error = withFields('outer', { retryAfter: '1', cause: new TransientError('inner', { retryAfterInMs: 5 }) });
    expect(classify(error)).toEqual(transient('TransientError', 'inner', { inMs: 5 }));
  });
});

describe('the rules of a policy', () => {
  class DomainError extends Error {}
  class LimitError extends DomainError {}
  const always = (is: PolicyRule['is']): PolicyRule => ({ when: { matches: () => true }, is });
  const inBothOrders = (rules: readonly PolicyRule[], error: unknown): Failure[] => [
    classify(error, rules),
    classify(error, [...rules].reverse()),
  ];

  it.each([
    ['a code', { code: 'E1' }],
    ['a status', { status: 409 }],
    ['a class', { name: 'Error' }],
    ['a predicate', { matches: (error: unknown) => (error as Error).message === 'm' }],
  ])('hold by %s', (_, when) => {
    const error = withFields('m', { code: 'E1', status: 409 });
    expect(classify(error, [{ when, is: 'transient' }])).toEqual(transient('E1', 'm'));
    expect(classify(error, [{ when, is: { permanent: 'Refused' } }])).toEqual(permanent('Refused', 'm', 'E1'));
  });

  it.each([{ code: 'E2' }, { code: 'undefined' }, { status: 410 }, { name: 'TypeError' }, { matches: () => false }])(
    'do not hold by %j where that is not so',
    (when) => {
      expect(classify(withFields('m', { status: 409 }), [{ when, is: 'transient' }])).toEqual(
        unclassified('Http409', 'm'),
      );
    },
  );

  it('hold by a code that is a number, and by the number of SQL Server', () => {
    expect(classify(withFields('m', { code: 1062 }), [{ when: { code: '1062' }, is: 'transient' }]).kind).toBe(
      'transient',
    );
    expect(classify(withFields('m', { number: 2627 }), [{ when: { code: '2627' }, is: 'transient' }]).kind).toBe(
      'transient',
    );
  });

  it('beat the defaults', () => {
    expect(classify(new HttpStatusError(503, 'm'), [{ when: { status: 503 }, is: { permanent: 'Gone' } }])).toEqual(
      permanent('Gone', 'm', 'Http503'),
    );
  });

  it('by code beat those by status, those by class, those by predicate, in either order', () => {
    const error = withFields('m', { code: 'E1', status: 409 });
    const byCode: PolicyRule = { when: { code: 'E1' }, is: { permanent: 'ByCode' } };
    const byStatus: PolicyRule = { when: { status: 409 }, is: { permanent: 'ByStatus' } };
    const byClass: PolicyRule = { when: { name: 'Error' }, is: { permanent: 'ByClass' } };
    const reasons = (...rules: PolicyRule[]) =>
      inBothOrders(rules, error).map((failure) => failure.kind === 'permanent' && failure.reason);
    expect(reasons(byCode, byStatus)).toEqual(['ByCode', 'ByCode']);
    expect(reasons(byStatus, byClass)).toEqual(['ByStatus', 'ByStatus']);
    expect(reasons(byClass, always({ permanent: 'ByPredicate' }))).toEqual(['ByClass', 'ByClass']);
  });

  // H3
  it('for a class beat those for its base, in either order, and so through causes', () => {
    const rules: PolicyRule[] = [
      { when: { name: 'Error' }, is: 'transient' },
      { when: { name: 'DomainError' }, is: { permanent: 'Domain' } },
    ];
    const expected = permanent('Domain', 'm', 'Error');
    expect(inBothOrders(rules, new DomainError('m'))).toEqual([expected, expected]);
    expect(inBothOrders(rules, new LimitError('m'))).toEqual([expected, expected]);
    expect(inBothOrders(rules, new Error('outer', { cause: new DomainError('m') }))).toEqual([expected, expected]);
    expect(inBothOrders(rules, new Error('m'))).toEqual([transient('Error', 'm'), transient('Error', 'm')]);
  });

  it('for a base that is permanent leave its transient class transient', () => {
    const rules: PolicyRule[] = [
      { when: { name: 'DomainError' }, is: { permanent: 'Domain' } },
      { when: { name: 'LimitError' }, is: 'transient' },
    ];
    expect(inBothOrders(rules, new LimitError('m'))).toEqual([transient('Error', 'm'), transient('Error', 'm')]);
  });

  it('know a name that was given by hand, and put it before any class', () => {
    const rules: PolicyRule[] = [
      { when: { name: 'DomainError' }, is: { permanent: 'Domain' } },
      { when: { name: 'Throttled' }, is: 'transient' },
    ];
    const error = Object.assign(new DomainError('m'), { name: 'Throttled' });
    expect(inBothOrders(rules, error)).toEqual([transient('Throttled', 'm'), transient('Throttled', 'm')]);
  });

  it('say permanent where equal ones hold, in either order', () => {
    const rules = [always('transient'), always({ permanent: 'Never' })];
    const expected = permanent('Never', 'm', 'Error');
    expect(inBothOrders(rules, new Error('m'))).toEqual([expected, expected]);
  });

  it('are taken in their order where nothing else tells them apart', () => {
    const rules = [always({ permanent: 'First' }), always({ permanent: 'Second' })];
    expect(classify(new Error('m'), rules)).toEqual(permanent('First', 'm', 'Error'));
  });

  it('for a class hold for a class without a name that is derived from it', () => {
    const error = new (class extends DomainError {})('m');
    const bare = Object.setPrototypeOf(
      { message: 'm', name: 'Error' },
      Object.create(DomainError.prototype, { constructor: { value: null } }),
    );
    const rules: PolicyRule[] = [{ when: { name: 'DomainError' }, is: 'transient' }];
    expect([classify(error, rules), classify(bare, rules)]).toEqual([transient('Error', 'm'), transient('Error', 'm')]);
  });

  it('are taken for the outermost error where equal ones hold', () => {
    const rules: PolicyRule[] = [
      { when: { code: 'INNER' }, is: { permanent: 'Inner' } },
      { when: { code: 'OUTER' }, is: 'transient' },
    ];
    const error = withFields('outer', { code: 'OUTER', cause: withFields('inner', { code: 'INNER' }) });
    expect(inBothOrders(rules, error)).toEqual([transient('OUTER', 'outer'), transient('OUTER', 'outer')]);
  });

  it('do not hold where their predicate throws, or answers anything but true', () => {
    const throwing: PolicyRule = {
      when: {
        matches: () => {
          throw new Error('no');
        },
      },
      is: 'transient',
    };
    const odd: PolicyRule = { when: { matches: () => 'yes' as unknown as boolean }, is: 'transient' };
    expect(classify(new Error('m'), [throwing, odd])).toEqual(unclassified('Error', 'm'));
  });

  it('see what was thrown where that is no error', () => {
    expect(classify('busy', [{ when: { matches: (error) => error === 'busy' }, is: 'transient' }])).toEqual(
      transient('string', 'busy'),
    );
  });
});

describe('the texts', () => {
  it.each([
    ['a text', 'oops', unclassified('string', 'oops')],
    ['nothing', undefined, unclassified('undefined', 'undefined')],
    ['null', null, unclassified('object', 'null')],
    ['a number', 42, unclassified('number', '42')],
    ['a symbol', Symbol('s'), unclassified('symbol', 'Symbol(s)')],
    ['a big integer', 10n, unclassified('bigint', '10')],
    ['an object', { reason: 'x' }, unclassified('object', '{"reason":"x"}')],
    ['an object that has no JSON', { toJSON: () => undefined }, unclassified('object', 'an error that cannot be read')],
    ['an object with a big integer', { n: 1n }, unclassified('object', 'an error that cannot be read')],
    ['an error without a message', new Error(''), unclassified('Error', '')],
    ['an error whose code is empty', withFields('m', { code: '' }), unclassified('Error', 'm')],
    ['an error whose code is a number', withFields('m', { code: 23 }), unclassified('Error', 'm')],
    ['an error whose name is none', withFields('m', { name: '' }), unclassified('object', 'm')],
  ])('are found for %s', (_, thrown, expected) => {
    expect(classify(thrown)).toEqual(expected);
  });

  it('are cut, the beginning kept', () => {
    const failure = classify(withFields('x'.repeat(200_000), { code: 'C'.repeat(1_000) }));
    expect(failure).toEqual(unclassified(`${'C'.repeat(125)}…`, `${'x'.repeat(2_045)}…`));
  });
});

describe('anything that can be thrown', () => {
  const throwing = () => {
    throw new Error('getter');
  };
  const hostile: [string, () => unknown][] = [
    ['a frozen error', () => Object.freeze(new Error('m'))],
    ['an object without a prototype', () => Object.create(null)],
    [
      'getters that throw',
      () =>
        Object.defineProperties(
          {},
          Object.fromEntries(
            [
              'name',
              'code',
              'message',
              'cause',
              'errors',
              'status',
              'failure',
              'response',
              'headers',
              'constructor',
              'toJSON',
            ].map((name) => [name, { get: throwing }]),
          ),
        ),
    ],
    [
      'a proxy whose every trap throws',
      () => new Proxy({}, { get: throwing, has: throwing, getPrototypeOf: throwing, ownKeys: throwing }),
    ],
    [
      'a proxy that answers with itself',
      () => {
        const proxy: unknown = new Proxy(() => undefined, { get: () => proxy, getPrototypeOf: () => null });
        return proxy;
      },
    ],
    [
      'a revoked proxy',
      () => {
        const { proxy, revoke } = Proxy.revocable({}, {});
        revoke();
        return proxy;
      },
    ],
    [
      'an aggregate of a revoked proxy',
      () => {
        const { proxy, revoke } = Proxy.revocable([], {});
        revoke();
        return { errors: proxy };
      },
    ],
    [
      'a getter that makes a new cause each time',
      () => {
        class Endless {
          get cause() {
            return new Endless();
          }
          get errors() {
            return [new Endless(), new Endless()];
          }
        }
        return new Endless();
      },
    ],
    ['a code without a text', () => ({ code: Object.create(null), message: 'm' })],
    ['a code whose text throws', () => ({ code: { toString: throwing }, message: 'm' })],
    [
      'prototypes without end',
      () => {
        const proxy: object = new Proxy({}, { getPrototypeOf: () => proxy });
        return proxy;
      },
    ],
    ['an aggregate whose length is no number', () => ({ errors: { length: Symbol('length') } })],
    ['headers that throw', () => ({ status: 429, response: { headers: { get: throwing } } })],
  ];
  const rules: PolicyRule[] = [
    { when: { code: 'E1' }, is: 'transient' },
    { when: { status: 409 }, is: { permanent: 'Refused' } },
    { when: { name: 'DomainError' }, is: 'transient' },
    { when: { matches: (error) => (error as { code: { length: number } }).code.length > 3 }, is: 'transient' },
  ];

  const expectSound = (failure: Failure) => {
    expect(['transient', 'permanent', 'unclassified']).toContain(failure.kind);
    expect(sizeInBytes(failure.message)).toBeLessThanOrEqual(2_048);
    expect(sizeInBytes(failure.code)).toBeLessThanOrEqual(128);
    expect(failure.code).not.toBe('');
  };

  it.each(hostile)('is classified: %s', (_, make) => {
    expectSound(classify(make()));
    expectSound(classify(make(), rules));
    expectSound(classify(new Error('outer', { cause: make() }), rules));
    expectSound(classify(new AggregateError([make(), make()]), rules));
  });

  it('is classified, the same when asked again', () => {
    const value = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withNullPrototype: true,
      withSet: true,
      withSparseArray: true,
    });
    const error = fc.record(
      {
        message: value,
        code: fc.oneof(value, fc.constantFrom('ECONNRESET', 'E1')),
        name: fc.oneof(value, fc.constantFrom('TimeoutError')),
        status: fc.oneof(value, fc.integer({ min: 400, max: 599 })),
        failure: fc.oneof(value, fc.constantFrom('permanent', 'transient')),
        retryAfter: value,
        retryAfterInMs: fc.oneof(value, fc.double()),
        cause: value,
        errors: value,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(value, error), (thrown) => {
        const failure = classify(thrown, rules);
        expectSound(failure);
        expect(classify(thrown, rules)).toEqual(failure);
      }),
    );
  });

  it('is classified the same in whatever order the rules stand', () => {
    class DomainError extends Error {}
    const every: PolicyRule[] = [
      { when: { code: 'E1' }, is: { permanent: 'Code' } },
      { when: { code: 'E2' }, is: 'transient' },
      { when: { status: 409 }, is: 'transient' },
      { when: { status: 503 }, is: { permanent: 'Status' } },
      { when: { name: 'Error' }, is: { permanent: 'Class' } },
      { when: { name: 'DomainError' }, is: 'transient' },
      { when: { matches: () => true }, is: 'transient' },
    ];
    const layer = fc.record(
      { code: fc.constantFrom('E1', 'E2', 'E3'), status: fc.constantFrom(409, 503, 404) },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(
        fc.array(layer, { minLength: 1, maxLength: 4 }),
        fc.boolean(),
        fc.shuffledSubarray(every, { minLength: 2 }),
        (layers, domain, shuffled) => {
          const error = layers.reduce<Error>(
            (cause, fields) =>
              Object.assign(domain ? new DomainError('m', { cause }) : new Error('m', { cause }), fields),
            new Error('innermost'),
          );
          expect(classify(error, shuffled)).toEqual(
            classify(
              error,
              [...shuffled].sort((a, b) => every.indexOf(a) - every.indexOf(b)),
            ),
          );
        },
      ),
    );
  });
});
