import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { int, type PropertyValue, string } from '../../../functions/core/rules/delivery.ts';
import { readEnvelope, writeOrigin } from '../../../functions/core/rules/envelope.ts';
import { hash } from '../../../functions/core/rules/hash.ts';
import { copyMessageId, deferralOf, type Lineage, redeliveryOf } from '../../../functions/core/rules/redelivery.ts';
import { aDelivery, anEnvelope, anOrigin, CONSUMER, ENQUEUED_UTC, NOW_UTC } from '../../fixtures/deliveries.ts';

const DUE_UTC = NOW_UTC + 2_000;
const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const failure = { reason: 'Http503', code: 'Http503', message: 'down' };
const plan = { dueUtc: DUE_UTC, failure };

const lineage = (changes: Partial<Lineage> = {}): Lineage => ({
  consumer: CONSUMER,
  policyName: 'order-placed',
  generation: 0,
  attempt: 1,
  deadlineUtc: ENQUEUED_UTC + 1_800_000,
  ...changes,
});
const check = (...parts: (string | number)[]) => hash(CONSUMER, 'A', ...parts).slice(0, 8);

describe('a redelivery', () => {
  it('is a copy at the next attempt, and says so in types of its own', () => {
    expect(redeliveryOf(aDelivery(), anEnvelope(), lineage(), plan, NOW_UTC, TRACEPARENT)).toEqual({
      messageId: `A~r1~${check(0, 1, 0, '')}`,
      dueUtc: DUE_UTC,
      timeToLiveInMs: undefined,
      drop: [],
      set: new Map([
        ['retry-version', int(1)],
        ['retry-consumer', string(CONSUMER)],
        ['retry-event-id', string('A')],
        ['retry-attempt', int(1)],
        ['retry-first-enqueued-utc', string('2026-01-05T09:00:00.000Z')],
        ['retry-deadline-utc', string('2026-01-05T09:30:00.000Z')],
        ['retry-policy', string('order-placed')],
        ['retry-first-failed-utc', string('2026-01-05T09:00:10.000Z')],
        ['retry-last-failed-utc', string('2026-01-05T09:00:10.000Z')],
        ['retry-not-before-utc', string('2026-01-05T09:00:12.000Z')],
        ['retry-error-code', string('Http503')],
        ['retry-error-message', string('down')],
        [
          'retry-history',
          string('[{"generation":0,"attempt":1,"at":"2026-01-05T09:00:10.000Z","code":"Http503","message":"down"}]'),
        ],
        ['Diagnostic-Id', string(TRACEPARENT)],
        ['traceparent', string(TRACEPARENT)],
      ]),
    });
  });

  it('keeps the edit of a replay, and makes up none', () => {
    const editOf = (edit?: string) =>
      redeliveryOf(aDelivery(), anEnvelope({ edit }), lineage({ generation: 1 }), plan, NOW_UTC).set.get('replay-edit');
    expect(editOf('amount')).toEqual(string('amount'));
    expect(editOf()).toBeUndefined();
  });

  it('keeps over its hops what is written once, and rewrites the rest', () => {
    const envelope = anEnvelope({
      attempt: 2,
      isBelieved: true,
      firstFailedUtc: ENQUEUED_UTC + 1_000,
      history: [{ generation: 0, attempt: 1, at: '2026-01-05T09:00:01.000Z', code: 'Http429', message: 'busy' }],
    });
    const { messageId, set } = redeliveryOf(
      aDelivery({ attempt: 2 }),
      envelope,
      lineage({ attempt: 2 }),
      plan,
      NOW_UTC,
    );
    expect(messageId).toBe(`A~r2~${check(0, 2, 0, '')}`);
    expect(set.get('retry-attempt')).toEqual(int(2));
    expect(set.get('retry-first-enqueued-utc')).toEqual(string('2026-01-05T09:00:00.000Z'));
    expect(set.get('retry-first-failed-utc')).toEqual(string('2026-01-05T09:00:01.000Z'));
    expect(set.get('retry-last-failed-utc')).toEqual(string('2026-01-05T09:00:10.000Z'));
    expect(set.get('retry-history')).toEqual(
      string(
        '[{"generation":0,"attempt":1,"at":"2026-01-05T09:00:01.000Z","code":"Http429","message":"busy"},' +
          '{"generation":0,"attempt":2,"at":"2026-01-05T09:00:10.000Z","code":"Http503","message":"down"}]',
      ),
    );
  });

  it('in a later generation names that, and starts the instants of its life anew', () => {
    const envelope = anEnvelope({
      firstFailedUtc: ENQUEUED_UTC,
      origin: anOrigin({ enqueuedUtc: ENQUEUED_UTC + 5_000 }),
    });
    const { messageId, set } = redeliveryOf(aDelivery(), envelope, lineage({ generation: 1 }), plan, NOW_UTC);
    expect(messageId).toBe(`A~p1r1~${check(1, 1, 0, '')}`);
    expect(set.get('replay-count')).toEqual(int(1));
    expect(set.get('retry-first-enqueued-utc')).toEqual(string('2026-01-05T09:00:05.000Z'));
    expect(set.get('retry-first-failed-utc')).toEqual(string('2026-01-05T09:00:10.000Z'));
  });

  it('shows no secret and no more of an error than its limit', () => {
    const leak = { reason: 'X', code: 'c'.repeat(200), message: `sig=abc ${'m'.repeat(600)}` };
    const { set } = redeliveryOf(aDelivery(), anEnvelope(), lineage(), { dueUtc: DUE_UTC, failure: leak }, NOW_UTC);
    expect(set.get('retry-error-code')).toEqual(string(`${'c'.repeat(125)}…`));
    expect(set.get('retry-error-message')).toEqual(string(`sig=[redacted] ${'m'.repeat(494)}…`));
    expect(String(set.get('retry-history')?.value)).not.toContain('abc');
  });

  it('leaves out what is ours, what a dead letter was marked with and the trace of the hop before', () => {
    const properties = {
      tenant: 't',
      Tenant: 'T',
      'retry-attempt': 9,
      'Retry-Attempt': 9,
      'replay-count': 1,
      'retry-unknown': 'x',
      DeadLetterReason: 'AttemptsExhausted',
      DeadLetterErrorDescription: 'attempt 4 of 4',
      'Diagnostic-Id': 'old',
      traceparent: 'old',
      tracestate: 'old',
      'diagnostic-id': "the producer's own",
    };
    const { drop, set } = redeliveryOf(aDelivery({ properties }), anEnvelope(), lineage(), plan, NOW_UTC);
    expect(drop).toEqual([
      'retry-attempt',
      'Retry-Attempt',
      'replay-count',
      'retry-unknown',
      'DeadLetterReason',
      'DeadLetterErrorDescription',
      'Diagnostic-Id',
      'traceparent',
      'tracestate',
    ]);
    expect([...set.keys()].filter((name) => /diagnostic|trace/i.test(name))).toEqual([]);
  });

  it.each([
    ['the rest of its time, counted from when it is due', DUE_UTC + 60_000, 60_000],
    ['a whole millisecond', DUE_UTC + 60_000.7, 60_000],
    ['never nothing, which would mean for ever', DUE_UTC, 1],
    ['never less than nothing', DUE_UTC - 5_000, 1],
    ['no limit where it had none', undefined, undefined],
  ])('has to live %s', (_, expiresUtc, expected) => {
    const copy = redeliveryOf(aDelivery({ expiresUtc }), anEnvelope(), lineage(), plan, NOW_UTC);
    expect(copy.timeToLiveInMs).toBe(expected);
  });

  it('is read back as it was meant', () => {
    const copy = redeliveryOf(aDelivery(), anEnvelope(), lineage({ generation: 1, attempt: 2 }), plan, NOW_UTC);
    const received = aDelivery({
      messageId: copy.messageId,
      sequenceNumber: '8',
      enqueuedUtc: DUE_UTC,
      properties: Object.fromEntries(copy.set),
    });
    expect(readEnvelope(received, CONSUMER)).toEqual({
      eventId: 'A',
      attempt: 3,
      generation: 1,
      deferrals: 0,
      isBelieved: true,
      origin: {
        messageId: copy.messageId,
        sequenceNumber: '8',
        enqueuedUtc: DUE_UTC,
        carriesDeadLetterMarks: false,
        isOurCopy: true,
        notBeforeUtc: DUE_UTC,
      },
      firstEnqueuedUtc: ENQUEUED_UTC,
      firstFailedUtc: NOW_UTC,
      deadlineUtc: ENQUEUED_UTC + 1_800_000,
      history: [{ generation: 1, attempt: 2, at: '2026-01-05T09:00:10.000Z', code: 'Http503', message: 'down' }],
      doubts: [],
    });
  });
});

describe('a deferral', () => {
  it('keeps the place that the message gives itself, and says what it stands for', () => {
    expect(deferralOf(aDelivery(), anEnvelope(), lineage({ attempt: 7 }), DUE_UTC, TRACEPARENT)).toEqual({
      messageId: `A~r0d1~${check(0, 0, 1, '7')}`,
      dueUtc: DUE_UTC,
      timeToLiveInMs: undefined,
      drop: [],
      set: new Map([
        ['retry-version', int(1)],
        ['retry-consumer', string(CONSUMER)],
        ['retry-event-id', string('A')],
        ['retry-attempt', int(0)],
        ['retry-first-enqueued-utc', string('2026-01-05T09:00:00.000Z')],
        ['retry-deadline-utc', string('2026-01-05T09:30:00.000Z')],
        ['retry-policy', string('order-placed')],
        ['retry-deferrals', int(1)],
        ['retry-origin', string(writeOrigin(anOrigin()))],
        ['retry-not-before-utc', string('2026-01-05T09:00:12.000Z')],
        ['Diagnostic-Id', string(TRACEPARENT)],
        ['traceparent', string(TRACEPARENT)],
      ]),
    });
  });

  it('of a deferral stands for the same message, and counts on', () => {
    const origin = anOrigin({ sequenceNumber: '5', isOurCopy: true });
    const envelope = anEnvelope({ attempt: 3, generation: 2, deferrals: 4, isBelieved: true, origin });
    const copy = deferralOf(aDelivery(), envelope, lineage({ generation: 2, attempt: 3 }), DUE_UTC);
    expect(copy.messageId).toBe(`A~p2r2d5~${check(2, 2, 5, '5')}`);
    expect(copy.set.get('retry-deferrals')).toEqual(int(5));
    expect(copy.set.get('retry-attempt')).toEqual(int(2));
    expect(copy.set.get('retry-origin')).toEqual(string(writeOrigin(origin)));
  });

  it('keeps what is known of earlier failures', () => {
    const properties = {
      'retry-first-failed-utc': '2026-01-05T09:00:01.000Z',
      'retry-last-failed-utc': '2026-01-05T09:00:02.000Z',
      'retry-error-code': 'Http503',
      'retry-error-message': 'down',
      'retry-history':
        '[{"generation":0,"attempt":1,"at":"2026-01-05T09:00:01.000Z","code":"Http503","message":"down"}]',
    };
    const delivery = aDelivery({ attempt: 2, properties });
    const { set } = deferralOf(delivery, readEnvelope(delivery, CONSUMER), lineage({ attempt: 2 }), DUE_UTC);
    const kept = Object.keys(properties).map((name) => [name, set.get(name)?.value]);
    expect(Object.fromEntries(kept)).toEqual(properties);
  });

  it('reads an instant that a tool has made a timestamp, and leaves behind a text that it has made something else', () => {
    const properties: Record<string, PropertyValue> = {
      'retry-first-failed-utc': { type: 'timestamp', value: ENQUEUED_UTC + 1_000 },
      'retry-last-failed-utc': { type: 'timestamp', value: ENQUEUED_UTC + 2_000 },
      'retry-error-code': { type: 'symbol', value: 'Http503' },
      'retry-error-message': { type: 'null', value: null },
    };
    const delivery = aDelivery({ attempt: 2, properties });
    const { set } = deferralOf(delivery, readEnvelope(delivery, CONSUMER), lineage({ attempt: 2 }), DUE_UTC);
    expect(Object.keys(properties).map((name) => set.get(name))).toEqual([
      string('2026-01-05T09:00:01.000Z'),
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('keeps nothing of what another wrote', () => {
    const properties = { 'retry-error-code': 'forged', 'retry-history': '[]' };
    const { set, drop } = deferralOf(aDelivery({ properties }), anEnvelope(), lineage(), DUE_UTC);
    expect([set.has('retry-error-code'), set.has('retry-history'), drop]).toEqual([
      false,
      false,
      ['retry-error-code', 'retry-history'],
    ]);
  });

  it('of a dead letter that was re-sent keeps its marks in the history', () => {
    const delivery = aDelivery({ properties: { DeadLetterReason: 'X', DeadLetterErrorDescription: 'd' } });
    const { set, drop } = deferralOf(delivery, readEnvelope(delivery, CONSUMER), lineage(), DUE_UTC);
    expect(drop).toEqual(['DeadLetterReason', 'DeadLetterErrorDescription']);
    expect(set.get('retry-history')).toEqual(
      string('[{"generation":0,"attempt":1,"at":"2026-01-05T09:00:00.000Z","code":"X","message":"d"}]'),
    );
  });

  it('counts no further than an int can', () => {
    const envelope = anEnvelope({ deferrals: 2_147_483_647 });
    expect(deferralOf(aDelivery(), envelope, lineage(), DUE_UTC).set.get('retry-deferrals')).toEqual(
      int(2_147_483_647),
    );
  });
});

describe('the MessageId of a copy', () => {
  const id = (eventId: string, attempt = 1) => copyMessageId({ consumer: 'c', generation: 0 }, eventId, attempt);
  const suffix = (eventId: string) => `~r1~${hash('c', eventId, 0, 1, 0, '').slice(0, 8)}`;

  it('shows the event while there is room, and its hash where there is not', () => {
    expect(id('x'.repeat(116))).toBe(`${'x'.repeat(116)}${suffix('x'.repeat(116))}`);
    expect(id('x'.repeat(116)).length).toBe(128);
    expect(id('x'.repeat(117))).toBe(`${hash('x'.repeat(117))}${suffix('x'.repeat(117))}`);
  });

  it('shows the hash of an event whose id has no UTF-8', () => {
    expect(id('a\ud800')).toBe(`${hash('a\ud800')}${suffix('a\ud800')}`);
  });

  it('differs between consumers of one queue', () => {
    expect(copyMessageId({ consumer: 'd', generation: 0 }, 'A', 1)).not.toBe(id('A'));
  });

  const count = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 2 ** 31 - 1 }));
  const copy = fc.record({
    eventId: fc.oneof(
      fc.string({ maxLength: 3 }),
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.constantFrom('A', 'A~r1', 'a', 'A~p1r1~00000000'),
    ),
    generation: count,
    attempt: count,
    deferral: fc.option(fc.record({ deferrals: count, sequenceNumber: fc.nat({ max: 5 }).map(String) }), {
      nil: undefined,
    }),
  });
  type Given = typeof copy extends fc.Arbitrary<infer T> ? T : never;
  const idOf = ({ eventId, generation, attempt, deferral }: Given) =>
    copyMessageId({ consumer: 'c', generation }, eventId, attempt, deferral);

  it('has at most 128 characters, is the same when asked again, and is another for another copy', () => {
    fc.assert(
      fc.property(copy, copy, (one, other) => {
        expect(idOf(one).length).toBeLessThanOrEqual(128);
        expect(idOf(one).isWellFormed()).toBe(true);
        expect(idOf(one)).toBe(idOf({ ...one }));
        expect(idOf(one) === idOf(other)).toBe(JSON.stringify(one) === JSON.stringify(other));
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['event', { eventId: 'B' }],
    ['generation', { generation: 1 }],
    ['attempt', { attempt: 2 }],
    ['number of deferrals', { deferral: { deferrals: 2, sequenceNumber: '7' } }],
    ['origin', { deferral: { deferrals: 1, sequenceNumber: '8' } }],
    ['kind', { deferral: undefined }],
  ])('is another for another %s alone', (_, change) => {
    const one: Given = { eventId: 'A', generation: 0, attempt: 1, deferral: { deferrals: 1, sequenceNumber: '7' } };
    expect(idOf({ ...one, ...change })).not.toBe(idOf(one));
  });
});
