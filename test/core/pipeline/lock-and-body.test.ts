import { describe, expect, test } from 'vitest';
import { always, losesFirstReply } from '../../fakes/faults.ts';
import { aDelivery, ENQUEUED_UTC } from '../../fixtures/deliveries.ts';
import { aReport, aStage, type StageOptions } from './a-stage.ts';

describe('a lock whose end looks past', () => {
  const delivery = aDelivery({ lockedUntilUtc: ENQUEUED_UTC });

  test('is renewed, and the delivery runs', async () => {
    const stage = aStage();

    expect(await stage.deliver(delivery)).toEqual(aReport());
    expect(stage.journal.steps()).toEqual([
      'renew lock',
      'claim',
      'handle attempt 1 try 1',
      'record completed',
      'complete',
    ]);
  });

  test.each([
    ['fails', always(new Error('the lock is lost'))],
    ['is not answered', losesFirstReply(new Error('no answer'))],
  ])('is lost where its renewal %s: nothing runs, nothing is settled', async (_name, renew) => {
    const stage = aStage({ faults: { renew } });

    expect(await stage.deliver(delivery)).toEqual(
      aReport({ tries: 0, outcome: 'left', reason: 'lock lost before the start' }),
    );
    expect(stage.journal.steps()).toHaveLength(1);
    expect(stage.settlement.settled.size).toBe(0);
  });
});

test.each([
  ['is still ahead', ENQUEUED_UTC + 1],
  ['is not known', undefined],
])('is not renewed where its end %s', async (_name, lockedUntilUtc) => {
  const stage = aStage();

  await stage.deliver(aDelivery({ lockedUntilUtc }));

  expect(stage.journal.steps()[0]).toBe('claim');
});

describe('no handler runs, and the lease is not outlived,', () => {
  test('where the claim is answered too late', async () => {
    const runs: number[] = [];
    const stage = aStage({ handle: async ({ deadlineUtc }) => void runs.push(deadlineUtc) });
    const { claim } = stage.ledger;
    stage.ledger.claim = async (...args) => {
      const answer = await claim(...args);
      await stage.clock.sleep(12_000);
      return answer;
    };

    await stage.deliver();

    // Lease: 30 s for the handler, 5 s of grace, 5 s to settle, from the moment of the question.
    expect(runs).toEqual([ENQUEUED_UTC + 30_000]);
  });

  test('where no time is left after the claim: it is given back', async () => {
    const stage = aStage({ budgetInMs: 20_000 });
    const { claim } = stage.ledger;
    stage.ledger.claim = async (...args) => {
      const answer = await claim(...args);
      await stage.clock.sleep(16_000);
      return answer;
    };

    expect(await stage.deliver()).toMatchObject({ outcome: 'left', tries: 0 });
    expect(stage.journal.steps()).toEqual(['claim', 'record released', 'abandon']);
    expect(stage.record()).toMatchObject({ kind: 'released' });
  });
});

describe('a body that cannot be read is dead-lettered at the first attempt, and never reaches the handler:', () => {
  const invalid: StageOptions['validate'] = () => ({
    kind: 'invalid',
    problems: ['amount: expected a number', 'currency: missing'],
  });

  test.each([
    ['malformed JSON', {}, { body: '{"a":' }, 'MalformedBody', /JSON/],
    ['no body', {}, { body: { kind: 'absent' } }, 'MalformedBody', /no body/],
    ['bytes that are no text', {}, { body: Uint8Array.of(0x80) }, 'MalformedBody', /not valid/],
    ['an unsupported content type', {}, { contentType: 'image/png' }, 'MalformedBody', /image\/png/],
    [
      'a value that the schema refuses',
      { validate: invalid },
      {},
      'SchemaViolation',
      /amount: expected a number; currency: missing/,
    ],
  ] as const)('%s', async (_name, options, changes, reason, description) => {
    const stage = aStage(options);

    const report = await stage.deliver(aDelivery(changes));

    expect(report).toMatchObject({ outcome: 'dead-lettered', reason, tries: 0 });
    expect(report.description).toMatch(description);
    expect(stage.journal.steps()).toEqual([
      'claim',
      `record deadLettering ${reason}`,
      `dead-letter ${reason}`,
      'record deadLettered',
    ]);
  });
});

const bug = () => {
  throw new Error('a bug');
};

test.each([
  ['the schema itself', { validate: bug }],
  ['the id of the event', { eventId: bug }],
  ['its fingerprint', { fingerprint: bug }],
])('dead-letters a message on which %s fails, for it would fail again', async (_name, options) => {
  const stage = aStage(options);

  const report = await stage.deliver();

  expect(report).toMatchObject({ outcome: 'dead-lettered', reason: 'SchemaViolation', tries: 0 });
  expect(report.description).toMatch(/the schema, the event id or the fingerprint failed: a bug$/);
});
