import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Delivery, int, type PropertyValue, string } from '../../../functions/core/rules/delivery.ts';
import { isReserved, lifeOf, type Origin, readEnvelope, writeOrigin } from '../../../functions/core/rules/envelope.ts';
import { hash } from '../../../functions/core/rules/hash.ts';
import { aDelivery, anEnvelope, anOrigin, CONSUMER, ENQUEUED_UTC } from '../../fixtures/deliveries.ts';

const read = (delivery: Delivery, compositionEventId?: string) => readEnvelope(delivery, CONSUMER, compositionEventId);

/** A message that this consumer wrote, with these of its properties. */
const ours = (properties: Record<string, string | number | PropertyValue>, changes: Partial<Delivery> = {}) =>
  read(
    aDelivery({ properties: { 'retry-consumer': CONSUMER, ...properties }, ...changes } as Parameters<
      typeof aDelivery
    >[0]),
  );

describe('a first delivery', () => {
  it('is attempt 1 of the event that its MessageId names', () => {
    expect(read(aDelivery())).toEqual(anEnvelope());
  });

  it('is of the event that the composition names', () => {
    expect(read(aDelivery(), 'order 17').eventId).toBe('order 17');
  });

  it.each(['', undefined])('is of the event that its MessageId names where the composition names %j', (id) => {
    expect(read(aDelivery(), id).eventId).toBe('A');
  });

  it('is of an event named by where and when the broker took it in, where nobody names it', () => {
    const delivery = aDelivery({ messageId: '', sequenceNumber: '9007199254740993' });
    expect(read(delivery).eventId).toBe('billing-order-placed:9007199254740993:1767603600000');
  });

  it.each([
    ['too long', 'x'.repeat(1_025)],
    ['too long in UTF-8', 'ü'.repeat(513)],
    ['without UTF-8', 'a\ud800'],
  ])('is of an event named by the hash of an id that is %s, so that copies keep it', (_, id) => {
    expect(read(aDelivery(), id).eventId).toBe(hash(id));
  });

  it('keeps the longest id that a property carries', () => {
    const id = 'ü'.repeat(512);
    expect(read(aDelivery(), id).eventId).toBe(id);
  });
});

describe('a copy that this consumer wrote', () => {
  it('says where the event stands', () => {
    const history = [{ generation: 2, attempt: 3, at: '2026-01-05T09:00:09.000Z', code: 'Http503', message: 'down' }];
    const envelope = ours(
      {
        'retry-event-id': 'order 17',
        'retry-attempt': 3,
        'replay-count': 2,
        'retry-first-enqueued-utc': '2026-01-05T08:00:00.000Z',
        'retry-first-failed-utc': '2026-01-05T08:00:01.000Z',
        'retry-deadline-utc': '2026-01-05T09:30:00.000Z',
        'retry-not-before-utc': '2026-01-05T08:59:59.000Z',
        'retry-history': JSON.stringify(history),
      },
      { messageId: 'order 17~p2r3~12345678', sequenceNumber: '8' },
    );
    expect(envelope).toEqual({
      eventId: 'order 17',
      attempt: 4,
      generation: 2,
      deferrals: 0,
      isBelieved: true,
      origin: {
        messageId: 'order 17~p2r3~12345678',
        sequenceNumber: '8',
        enqueuedUtc: ENQUEUED_UTC,
        carriesDeadLetterMarks: false,
        isOurCopy: true,
        notBeforeUtc: ENQUEUED_UTC - 1_000,
      },
      firstEnqueuedUtc: ENQUEUED_UTC - 3_600_000,
      firstFailedUtc: ENQUEUED_UTC - 3_599_000,
      deadlineUtc: ENQUEUED_UTC + 1_800_000,
      history,
      doubts: [],
    });
  });

  it('is named before the composition has its say: an edited schema must not rename it', () => {
    const delivery = aDelivery({ attempt: 2 });
    expect(read(delivery, 'other').eventId).toBe('A');
  });

  it.each([string(''), int(5)])('is named as a first delivery where its own name is %j', (property) => {
    expect(ours({ 'retry-event-id': property }).eventId).toBe('A');
  });
});

describe('properties that another consumer or producer wrote', () => {
  it('are not believed, and are said to be dropped', () => {
    const properties = {
      'retry-consumer': 'other/consumer',
      'retry-attempt': 4,
      'replay-count': 2,
      'retry-event-id': 'forged',
      'retry-deadline-utc': '1970-01-01T00:00:00Z',
      priority: 1,
    };
    expect(read(aDelivery({ properties }))).toEqual(
      anEnvelope({
        doubts: [
          `retry-consumer, retry-attempt, replay-count, retry-event-id, retry-deadline-utc: not written by ${CONSUMER}, dropped`,
        ],
      }),
    );
  });

  it('are not believed without a name at all', () => {
    expect(read(aDelivery({ properties: { 'retry-attempt': 4 } }))).toEqual(
      anEnvelope({ doubts: [`retry-attempt: not written by ${CONSUMER}, dropped`] }),
    );
  });

  it('are not ours in another case, though our own are believed beside them', () => {
    const { attempt, doubts } = ours({ 'Retry-Attempt': 7, 'retry-attempt': 1 });
    expect({ attempt, doubts }).toEqual({ attempt: 2, doubts: [] });
    expect(ours({ 'Retry-Attempt': 7 }).attempt).toBe(1);
  });

  it.each(['retry-attempt', 'replay-count', 'Retry-Attempt', 'REPLAY-x', 'retry-'])('are reserved: %s', (name) => {
    expect(isReserved(name)).toBe(true);
  });

  it.each(['retry', 'x-retry-attempt', 'retryattempt', 'Replay', ' retry-attempt'])(
    "are the producer's: %s",
    (name) => {
      expect(isReserved(name)).toBe(false);
    },
  );
});

describe('a count', () => {
  it.each([
    [int(0), 1],
    [int(7), 8],
    [int(2_147_483_647), 2_147_483_648],
    [{ type: 'long', value: 3n } as const, 4],
    [{ type: 'ubyte', value: 3 } as const, 4],
    [{ type: 'double', value: 3 } as const, 4],
  ])('of %o is believed, whatever a tool has made of its type', (property, attempt) => {
    const envelope = ours({ 'retry-attempt': property });
    expect({ attempt: envelope.attempt, doubts: envelope.doubts }).toEqual({ attempt, doubts: [] });
  });

  it.each([
    [int(-1), 'int -1'],
    [int(2_147_483_648), 'int 2147483648'],
    [{ type: 'long', value: 2n ** 63n - 1n } as const, 'long 9223372036854775807'],
    [{ type: 'double', value: 1.5 } as const, 'double 1.5'],
    [{ type: 'double', value: Number.NaN } as const, 'double NaN'],
    [{ type: 'double', value: Number.POSITIVE_INFINITY } as const, 'double Infinity'],
    [string('3'), 'string "3"'],
    [string('x'.repeat(100)), `string "${'x'.repeat(37)}…"`],
    [{ type: 'boolean', value: true } as const, 'boolean true'],
    [{ type: 'null', value: null } as const, 'null null'],
    [{ type: 'binary', value: new Uint8Array([3]) } as const, 'binary bytes'],
  ])('of %o counts as 0, and is doubted', (property, shown) => {
    const envelope = ours({ 'retry-attempt': property });
    expect({ attempt: envelope.attempt, doubts: envelope.doubts }).toEqual({
      attempt: 1,
      doubts: [`retry-attempt is ${shown}: expected an int from 0 to 2147483647, taken as 0`],
    });
  });
});

describe('an instant', () => {
  it('is read from a timestamp too', () => {
    expect(ours({ 'retry-deadline-utc': { type: 'timestamp', value: 17 } }).deadlineUtc).toBe(17);
  });

  it.each([
    [string('soon'), 'string "soon"'],
    [string('foo 1'), 'string "foo 1"'],
    [string(''), 'string ""'],
    [int(17), 'int 17'],
    [{ type: 'timestamp', value: Number.NaN } as const, 'timestamp NaN'],
    [{ type: 'timestamp', value: 17n } as const, 'timestamp 17'],
  ])('of %o is left out, and doubted', (property, shown) => {
    const envelope = ours({ 'retry-deadline-utc': property });
    expect({ deadlineUtc: envelope.deadlineUtc, doubts: envelope.doubts }).toEqual({
      deadlineUtc: undefined,
      doubts: [`retry-deadline-utc is ${shown}: expected ISO 8601, left out`],
    });
  });
});

describe('a property that no copy can carry', () => {
  it('is told, for it will be missing from the second attempt on', () => {
    const list: PropertyValue = { type: 'other', value: new Uint8Array([0x45]) };
    expect(read(aDelivery({ properties: { tags: list, tenant: 'eu' } })).doubts).toEqual([
      'tags: a list, map or array is no property to the service, not copied',
    ]);
  });
});

describe('the message that a deferral stands for', () => {
  const origin: Origin = {
    messageId: 'A~r1~12345678',
    sequenceNumber: '9007199254740993',
    enqueuedUtc: ENQUEUED_UTC - 5_000,
    carriesDeadLetterMarks: true,
    isOurCopy: true,
    notBeforeUtc: ENQUEUED_UTC - 6_000,
  };
  const deferral = (written: string, deferrals = 2) =>
    ours({ 'retry-deferrals': deferrals, 'retry-origin': written, 'retry-not-before-utc': '2026-01-05T08:59:59.000Z' });
  const itself = anOrigin({ isOurCopy: true, notBeforeUtc: ENQUEUED_UTC - 1_000 });

  it.each([origin, anOrigin(), { ...origin, notBeforeUtc: undefined }, { ...origin, carriesDeadLetterMarks: false }])(
    'is read as it was written: %j',
    (written) => {
      expect(deferral(writeOrigin(written))).toMatchObject({ deferrals: 2, origin: written, doubts: [] });
    },
  );

  it('is the delivery itself where nothing was deferred', () => {
    expect(deferral(writeOrigin(origin), 0).origin).toEqual(itself);
  });

  it.each([
    'null',
    '5',
    '"x"',
    '{}',
    '{"id":"A","seq":"7"}',
    '{"id":"A","at":1}',
    '{"seq":"7","at":1}',
    '{"id":1,"seq":"7","at":1}',
    '{"id":"A","seq":7,"at":1}',
    '{"id":"A","seq":"7","at":"1"}',
  ])('is the delivery itself where what was written is %s', (written) => {
    expect(deferral(written)).toMatchObject({ origin: itself, doubts: [] });
  });

  it('takes odd marks for none', () => {
    const written = '{"id":"A","seq":"7","at":1,"dead":"yes","ours":1,"due":"soon"}';
    expect(deferral(written).origin).toEqual(anOrigin({ enqueuedUtc: 1 }));
  });

  it('is the delivery itself where what was written is no JSON, and that is doubted', () => {
    expect(deferral('{"id":')).toMatchObject({ origin: itself, doubts: ['retry-origin is not JSON, left out'] });
  });

  it('is the delivery itself where that was dead-lettered and re-sent: to be judged by the origin would end it as stale', () => {
    const resent = ours({ 'retry-deferrals': 2, 'retry-origin': writeOrigin(origin), DeadLetterReason: 'TTLExpired' });
    const { notBeforeUtc: _, ...marked } = anOrigin({ isOurCopy: true, carriesDeadLetterMarks: true });
    expect(resent).toMatchObject({ deferrals: 0, origin: marked });
  });

  it('is the delivery itself where nothing was written', () => {
    expect(ours({ 'retry-deferrals': 1 }).origin).toEqual(anOrigin({ isOurCopy: true }));
  });
});

describe('a dead letter that someone re-sent', () => {
  const marks = { DeadLetterReason: 'AttemptsExhausted', DeadLetterErrorDescription: 'attempt 4 of 4' };

  it('is known by its marks, which go to the history', () => {
    expect(read(aDelivery({ properties: marks }))).toEqual(
      anEnvelope({
        origin: anOrigin({ carriesDeadLetterMarks: true }),
        history: [
          {
            generation: 0,
            attempt: 1,
            at: '2026-01-05T09:00:00.000Z',
            code: 'AttemptsExhausted',
            message: 'attempt 4 of 4',
          },
        ],
      }),
    );
  });

  it('keeps what it was a copy of, and its older history before the marks', () => {
    const older = { generation: 1, attempt: 1, at: '2026-01-05T08:00:00.000Z', code: 'Http503', message: 'down' };
    const { origin, history } = ours({
      DeadLetterReason: 'X',
      'retry-attempt': 3,
      'replay-count': 1,
      'retry-history': JSON.stringify([older]),
    });
    expect(origin).toEqual(anOrigin({ carriesDeadLetterMarks: true, isOurCopy: true }));
    expect(history).toEqual([
      older,
      { generation: 1, attempt: 4, at: '2026-01-05T09:00:00.000Z', code: 'X', message: '' },
    ]);
  });
});

describe('the history', () => {
  const entry = { generation: 0, attempt: 1, at: '2026-01-05T09:00:00.000Z', code: 'Http503', message: 'down' };

  it.each(['{"a":1}', '5', 'null', '"x"'])('is empty where %s was written', (written) => {
    expect(ours({ 'retry-history': written })).toMatchObject({ history: [], doubts: [] });
  });

  it('is empty where no JSON was written, and that is doubted', () => {
    expect(ours({ 'retry-history': '[' })).toMatchObject({
      history: [],
      doubts: ['retry-history is not JSON, left out'],
    });
  });

  it('keeps entries that are whole, and of those only what belongs to them', () => {
    const broken = Object.keys(entry).map((name) => ({ ...entry, [name]: null }));
    const written = JSON.stringify([...broken, null, 5, 'x', { ...entry, extra: 'x'.repeat(100) }]);
    expect(ours({ 'retry-history': written }).history).toEqual([entry]);
  });
});

describe('the life of an event in a generation', () => {
  const MINUTE = 60_000;
  const envelope = anEnvelope({
    generation: 1,
    origin: anOrigin({ enqueuedUtc: ENQUEUED_UTC + 5 * MINUTE }),
    firstFailedUtc: ENQUEUED_UTC + MINUTE,
    deadlineUtc: ENQUEUED_UTC + 20 * MINUTE,
  });

  it.each([0, 1])('is what the message says where the ledger knows no later one: %i', (generation) => {
    expect(lifeOf(envelope, generation, 10 * MINUTE)).toEqual({
      firstEnqueuedUtc: ENQUEUED_UTC,
      firstFailedUtc: ENQUEUED_UTC + MINUTE,
      deadlineUtc: ENQUEUED_UTC + 20 * MINUTE,
    });
  });

  it('has a window from the first enqueue where no copy has fixed one', () => {
    expect(lifeOf(anEnvelope(), 0, 10 * MINUTE)).toEqual({
      firstEnqueuedUtc: ENQUEUED_UTC,
      firstFailedUtc: undefined,
      deadlineUtc: ENQUEUED_UTC + 10 * MINUTE,
    });
  });

  it('starts anew with the message that opened a later one', () => {
    expect(lifeOf(envelope, 2, 10 * MINUTE)).toEqual({
      firstEnqueuedUtc: ENQUEUED_UTC + 5 * MINUTE,
      firstFailedUtc: undefined,
      deadlineUtc: ENQUEUED_UTC + 15 * MINUTE,
    });
  });
});

describe('any properties', () => {
  const value: fc.Arbitrary<PropertyValue> = fc.oneof(
    fc.string().map(string),
    fc.integer().map(int),
    fc.double().map((number) => ({ type: 'double', value: number }) as const),
    fc.bigInt().map((number) => ({ type: 'long', value: number }) as const),
    fc.json().map(string),
    fc.constantFrom({ type: 'null', value: null } as const, { type: 'boolean', value: true } as const),
  );
  const names = [
    'attempt',
    'deferrals',
    'origin',
    'event-id',
    'history',
    'deadline-utc',
    'first-failed-utc',
    'not-before-utc',
  ];
  const properties = fc.dictionary(
    fc.constantFrom(
      ...names.map((name) => `retry-${name}`),
      'replay-count',
      'DeadLetterReason',
      'DeadLetterErrorDescription',
    ),
    value,
  );

  it('give an envelope whose counts are counts and whose instants are instants', () => {
    fc.assert(
      fc.property(properties, (given) => {
        const envelope = ours(given);
        expect(Number.isInteger(envelope.attempt) && envelope.attempt >= 1).toBe(true);
        expect(Number.isInteger(envelope.generation) && envelope.generation >= 0).toBe(true);
        expect(Number.isInteger(envelope.deferrals) && envelope.deferrals >= 0).toBe(true);
        expect(envelope.eventId).not.toBe('');
        for (const utc of [envelope.firstEnqueuedUtc, envelope.firstFailedUtc ?? 0, envelope.deadlineUtc ?? 0]) {
          expect(Number.isFinite(utc)).toBe(true);
        }
      }),
    );
  });
});
