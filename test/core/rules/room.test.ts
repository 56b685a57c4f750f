import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertySizeInBytes } from '../../../functions/core/rules/amqp-size.ts';
import type { DeadLetter } from '../../../functions/core/rules/dead-letter.ts';
import { deadLetterOf } from '../../../functions/core/rules/dead-letter.ts';
import { type Delivery, int, string } from '../../../functions/core/rules/delivery.ts';
import { type Copy, redeliveryOf } from '../../../functions/core/rules/redelivery.ts';
import { fitCopy, fitDeadLetter } from '../../../functions/core/rules/room.ts';
import { aDelivery, anEnvelope, CONSUMER, ENQUEUED_UTC, NOW_UTC } from '../../fixtures/deliveries.ts';

const KB = 1_024;
/** What a text property `n` takes at most besides the text itself. */
const OVERHEAD = 5 + 1 + 5;
/** What the copy is allowed to grow by in other places than its properties. */
const FIELDS = 640;

/** A message with a body and one property `n` of so many bytes in all, and no other head. */
const aMessage = (bodyInBytes: number, headInBytes: number): Delivery => {
  const properties = headInBytes === 0 ? {} : { n: 'x'.repeat(headInBytes - OVERHEAD) };
  const body = new Uint8Array(bodyInBytes);
  return aDelivery({ body, raw: body, properties });
};

const aCopy = (set: Copy['set'], drop: readonly string[] = []): Copy => ({
  messageId: 'A~r1~12345678',
  dueUtc: NOW_UTC,
  timeToLiveInMs: undefined,
  drop,
  set,
});

/** A text property that takes `bytes` in all, at most. */
const property = (name: string, bytes: number): [string, ReturnType<typeof string>] => [
  name,
  string('y'.repeat(bytes - 5 - name.length - 5)),
];

const fits = (copy: Copy) => ({ kind: 'fits', copy });

describe('the room for a copy', () => {
  it('is plenty for the usual message, whose copy stays as it is', () => {
    const copy = aCopy(new Map([property('retry-history', 4_000), property('retry-event-id', 100)]));
    expect(fitCopy(aMessage(200, 300), copy)).toEqual(fits(copy));
  });

  it('is 64 KB of properties', () => {
    const copy = aCopy(new Map([property('retry-event-id', 100)]));
    expect(fitCopy(aMessage(10, 64 * KB - FIELDS - 100), copy)).toEqual(fits(copy));
    expect(fitCopy(aMessage(10, 64 * KB - FIELDS - 99), copy)).toEqual({
      kind: 'tooLarge',
      failure: {
        reason: 'MessageTooLarge',
        code: 'MessageTooLarge',
        message:
          'no room for a copy: 10 bytes of body, 64797 of properties and fields; at most 262144 in all, 65536 without the body',
      },
    });
  });

  it('is 256 KB in all where the entity takes no more', () => {
    const copy = aCopy(new Map([property('retry-event-id', 100)]));
    const largest = 256 * KB - FIELDS - 100 - 1_000;
    expect(fitCopy(aMessage(largest, 1_000), copy).kind).toBe('fits');
    expect(fitCopy(aMessage(largest + 1, 1_000), copy).kind).toBe('tooLarge');
  });

  it('is what the entity takes where that is more', () => {
    const copy = aCopy(new Map([property('retry-event-id', 100)]));
    expect(fitCopy(aMessage(1_000_000, 1_000), copy, 1_024 * KB).kind).toBe('fits');
    expect(fitCopy(aMessage(1_000_000, 1_000), copy, 1_000_000).kind).toBe('tooLarge');
  });

  it('counts what the message as received takes besides its body', () => {
    const copy = aCopy(new Map([property('retry-event-id', 100)]));
    const received = (head: number) => aDelivery({ body: new Uint8Array(10), raw: new Uint8Array(10 + head) });
    expect(fitCopy(received(64 * KB - FIELDS - 100), copy).kind).toBe('fits');
    expect(fitCopy(received(64 * KB - FIELDS - 99), copy).kind).toBe('tooLarge');
  });

  it('counts a body that is no bytes, or none, with the head', () => {
    const copy = aCopy(new Map([property('retry-event-id', 100)]));
    const raw = new Uint8Array(64 * KB - FIELDS - 99);
    expect(fitCopy(aDelivery({ body: { kind: 'absent' }, raw }), copy).kind).toBe('tooLarge');
    expect(fitCopy(aDelivery({ body: { kind: 'value', bytes: undefined, value: 1 }, raw }), copy).kind).toBe(
      'tooLarge',
    );
    expect(fitCopy(aDelivery({ body: { kind: 'value', bytes: new Uint8Array(1), value: 'x' }, raw }), copy).kind).toBe(
      'fits',
    );
  });

  it('is freed by what the copy drops or replaces, as little as that may be', () => {
    const message = aMessage(10, 64 * KB - FIELDS);
    expect(fitCopy(message, aCopy(new Map([['retry-attempt', int(1)]]), ['n'])).kind).toBe('fits');
    expect(fitCopy(message, aCopy(new Map([['n', string('short')]]))).kind).toBe('fits');
    expect(fitCopy(message, aCopy(new Map([property('n', 64 * KB - FIELDS - 6)]))).kind).toBe('fits');
    expect(fitCopy(message, aCopy(new Map([property('n', 64 * KB - FIELDS - 5)]))).kind).toBe('tooLarge');
  });

  it('is made by leaving out what can be done without, the history first', () => {
    const dispensable = [
      'retry-history',
      'retry-error-message',
      'tracestate',
      'traceparent',
      'Diagnostic-Id',
      'retry-policy',
      'retry-error-code',
      'retry-last-failed-utc',
      'retry-first-failed-utc',
    ];
    const needed = ['retry-event-id', 'retry-attempt', 'retry-not-before-utc', 'retry-deadline-utc'];
    const set = new Map([...needed, ...dispensable.toReversed()].map((name) => property(name, 100)));
    const all = set.size * 100;
    const keptWith = (lacking: number) => {
      const fit = fitCopy(aMessage(10, 64 * KB - FIELDS - all + lacking), aCopy(set));
      return fit.kind === 'fits' ? [...fit.copy.set.keys()] : fit.kind;
    };
    expect(keptWith(0)).toEqual([...set.keys()]);
    for (const [index] of dispensable.entries()) {
      const expected = [...set.keys()].filter((name) => !dispensable.slice(0, index + 1).includes(name));
      expect(keptWith(index * 100 + 1)).toEqual(expected);
      expect(keptWith(index * 100 + 100)).toEqual(expected);
    }
    expect(keptWith(dispensable.length * 100 + 1)).toBe('tooLarge');
  });

  it('changes nothing else of the copy', () => {
    const copy = {
      ...aCopy(new Map([property('retry-history', 4_000), property('retry-event-id', 100)]), ['gone']),
      timeToLiveInMs: 5,
    };
    expect(fitCopy(aMessage(10, 64 * KB - 2_000), copy)).toEqual(
      fits({ ...copy, set: new Map([property('retry-event-id', 100)]) }),
    );
  });

  // C2
  it('is none in a message that fills its entity: it is dead-lettered instead of tried for ever', () => {
    const body = new Uint8Array(262_100 - 200);
    const delivery = aDelivery({ body, raw: new Uint8Array(262_100) });
    const lineage = { consumer: CONSUMER, policyName: 'p', generation: 0, attempt: 1, deadlineUtc: ENQUEUED_UTC };
    const failure = { reason: 'X', code: 'X', message: 'x' };
    const copy = redeliveryOf(delivery, anEnvelope(), lineage, { dueUtc: NOW_UTC, failure }, NOW_UTC);
    expect(fitCopy(delivery, copy)).toMatchObject({ kind: 'tooLarge', failure: { reason: 'MessageTooLarge' } });
  });
});

describe('the room for a dead letter', () => {
  /** What the names of reason and description take, and a reason of one letter. */
  const TEXTS = 5 + 'DeadLetterReason'.length + 5 + 1 + 5 + 'DeadLetterErrorDescription'.length + 5;
  const aLetter = (description: string, properties: DeadLetter['properties']): DeadLetter => ({
    reason: 'R',
    description,
    properties,
  });

  it('is 64 KB of properties, as they are where they fit', () => {
    const letter = aLetter('d'.repeat(100), new Map([property('retry-history', 100), ['replay-count', int(1)]]));
    const generation = 5 + 'replay-count'.length + 17;
    expect(fitDeadLetter(aMessage(10, 64 * KB - TEXTS - 200 - generation), letter)).toEqual(letter);
  });

  it('loses dispensable properties first, then the end of the description, and never its reason or generation', () => {
    const essential = property('replay-count', 100);
    const letter = aLetter(
      'd'.repeat(100),
      new Map([property('retry-history', 100), property('retry-error-code', 100), essential]),
    );
    const fitted = (room: number) => fitDeadLetter(aMessage(10, 64 * KB - TEXTS - room), letter);
    expect(fitted(400)).toEqual(letter);
    expect(fitted(399)).toEqual({ ...letter, properties: new Map([property('retry-error-code', 100), essential]) });
    expect(fitted(299)).toEqual({ ...letter, properties: new Map([essential]) });
    expect(fitted(200)).toEqual({ ...letter, properties: new Map([essential]) });
    expect(fitted(199)).toEqual({ ...letter, description: `${'d'.repeat(96)}…`, properties: new Map([essential]) });
    expect(fitted(0)).toEqual({ reason: 'R', description: '', properties: new Map([essential]) });
  });

  it('is freed by the marks and properties that it replaces', () => {
    const marks = {
      DeadLetterReason: 'r'.repeat(60),
      DeadLetterErrorDescription: 'd'.repeat(4_000),
      'retry-history': 'h'.repeat(4_000),
    };
    const rest = { n: 'x'.repeat(64 * KB - 8_500) };
    const delivery = aDelivery({ body: new Uint8Array(1), properties: { ...marks, ...rest } });
    const letter = aLetter('d'.repeat(4_000), new Map([property('retry-history', 4_000)]));
    expect(fitDeadLetter(delivery, letter)).toEqual(letter);
    const without = aDelivery({ body: new Uint8Array(1), properties: { ...rest, other: 'y'.repeat(8_060) } });
    expect(fitDeadLetter(without, letter)).not.toEqual(letter);
  });

  it('bounds any dead letter of any error on any message', () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 300 }),
        fc.integer({ min: 0, max: 64 * KB }),
        fc.nat({ max: 3 }),
        (text, head, generation) => {
          const failure = { reason: text, code: text, message: text.repeat(40) };
          const letter = deadLetterOf(anEnvelope(), failure, { attempt: 1, maxAttempts: 4, generation }, NOW_UTC);
          const delivery = aDelivery({ body: new Uint8Array(5), raw: new Uint8Array(5 + head) });
          const { reason, description, properties } = fitDeadLetter(delivery, letter);
          expect(reason).toBe(letter.reason);
          expect(properties.has('replay-count')).toBe(generation > 0);
          const texts = new Map([
            ['DeadLetterReason', string(reason)],
            ['DeadLetterErrorDescription', string(description)],
            ...properties,
          ]);
          const added = [...texts].reduce((sum, [name, value]) => sum + propertySizeInBytes(name, value).most, 0);
          if (head + added <= 64 * KB) return;
          expect({ description, names: [...properties.keys()] }).toEqual({
            description: '',
            names: generation > 0 ? ['replay-count'] : [],
          });
        },
      ),
    );
  });
});
