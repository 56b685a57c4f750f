import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { DeadLetterRow } from '../../local/scenario/result.ts';
import { anOrder, FAST_POLICY, withoutInstants } from './support/orders.ts';
import { aStage, type Stage } from './support/stage.ts';

const BINARY = Buffer.from([0x00, 0xff, 0x7b, 0x0a, 0xc3, 0x28]);

const TRACEPARENT = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;
const failure = (attempt: number) => ({
  generation: 0,
  attempt,
  at: '<instant>',
  code: 'Http503',
  message: 'the payment provider answered 503',
});

let stage: Stage;

// Everything is sent at once: the waiting of one message is the running of another.
beforeAll(async () => {
  stage = await aStage(inject('builtApp'), FAST_POLICY);
  await stage.startHost();
  await stage.send(
    anOrder('recovers', [503, 503, 200]),
    { ...anOrder('permanent'), body: { orderId: 'order-permanent', amount: 25, currency: 'XXX' } },
    anOrder('exhausted', [503]),
    anOrder('twice'),
    anOrder('timeout', ['timeout', 200]),
    anOrder('reset', ['reset', 200]),
    anOrder('throttled', [{ status: 429, retryAfter: '2' }, 200]),
    { messageId: 'malformed', bodyBase64: Buffer.from('{"orderId":').toString('base64') },
    { messageId: 'schema', body: { orderId: '', amount: -1, currency: 'euro' }, contentType: 'application/json' },
    { messageId: 'media-type', bodyBase64: BINARY.toString('base64'), contentType: 'application/octet-stream' },
    anOrder('twice'),
  );
});

afterAll(() => stage?.stop());

/** What became of each delivery of the event, in order. */
const wayOf = (eventId: string) =>
  stage.reports
    .filter((report) => report.eventId === eventId)
    .map(({ attempt, tries, outcome, reason, delayInMs }) => [attempt, tries, outcome, reason, delayInMs]);

async function deadLetterOf(eventId: string): Promise<DeadLetterRow> {
  await stage.until(eventId, 'dead-lettered');
  const letters = await stage.deadLetters();
  const own = letters.filter(({ messageId }) => messageId.split('~')[0] === eventId);
  expect(own).toHaveLength(1);
  return own[0] as DeadLetterRow;
}

describe('the three ways of a message', () => {
  test('a message whose provider recovers is redelivered after growing delays, then charged once', async () => {
    await stage.until('recovers', 'succeeded');

    expect(wayOf('recovers')).toEqual([
      [1, 1, 'redelivered', 'Http503', 1_000],
      [2, 1, 'redelivered', 'Http503', 2_000],
      [3, 1, 'succeeded', undefined, undefined],
    ]);
    expect(stage.provider.charges).toContainEqual({ orderId: 'order-recovers', count: 1 });
  });

  test('a message that can never succeed is dead-lettered at once', async () => {
    await stage.until('permanent', 'dead-lettered');

    expect(wayOf('permanent')).toEqual([[1, 1, 'dead-lettered', 'UnsupportedCurrency', undefined]]);
  });

  test('a message whose provider stays down is dead-lettered after its last attempt', async () => {
    await stage.until('exhausted', 'dead-lettered');

    expect(wayOf('exhausted')).toEqual([
      [1, 1, 'redelivered', 'Http503', 1_000],
      [2, 1, 'redelivered', 'Http503', 2_000],
      [3, 1, 'dead-lettered', 'AttemptsExhausted', undefined],
    ]);
  });
});

describe('what the provider answers', () => {
  test('silence ends by the time limit of the handler, and the message is redelivered', async () => {
    await stage.until('timeout', 'succeeded');

    expect(wayOf('timeout')).toEqual([
      [1, 1, 'redelivered', 'HandlerTimeout', 1_000],
      [2, 1, 'succeeded', undefined, undefined],
    ]);
  });

  test('a broken connection is transient', async () => {
    await stage.until('reset', 'succeeded');

    expect(wayOf('reset')).toEqual([
      [1, 1, 'redelivered', 'ECONNRESET', 1_000],
      [2, 1, 'succeeded', undefined, undefined],
    ]);
  });

  test('Retry-After is the floor of the delay', async () => {
    await stage.until('throttled', 'succeeded');

    expect(wayOf('throttled')).toEqual([
      [1, 1, 'redelivered', 'Http429', 2_000],
      [2, 1, 'succeeded', undefined, undefined],
    ]);
  });
});

// Field case H1.
describe('a body that is no event', () => {
  test('is dead-lettered at the first attempt where it is no JSON, without a run', async () => {
    const { reason, description } = await deadLetterOf('malformed');

    expect(wayOf('malformed')).toEqual([[1, 0, 'dead-lettered', 'MalformedBody', undefined]]);
    expect(reason).toBe('MalformedBody');
    expect(withoutInstants(description ?? '')).toBe(
      'attempt 1 of 3, first failed <instant>, last failed <instant>: ' +
        'MalformedBody: the body is not JSON: Unexpected end of JSON input',
    );
  });

  test('is dead-lettered with the paths that failed where the schema refuses it', async () => {
    const { reason, description } = await deadLetterOf('schema');

    expect(wayOf('schema')).toEqual([[1, 0, 'dead-lettered', 'SchemaViolation', undefined]]);
    expect(reason).toBe('SchemaViolation');
    expect(withoutInstants(description ?? '')).toBe(
      'attempt 1 of 3, first failed <instant>, last failed <instant>: ' +
        'SchemaViolation: orderId: Too small: expected string to have >=1 characters; amount: Too small: expected number to be >0; currency: expected three capital letters, as in ISO 4217',
    );
  });

  test('is dead-lettered byte for byte as it came where its content type is unknown', async () => {
    const { reason, description, bodyBase64 } = await deadLetterOf('media-type');

    expect(wayOf('media-type')).toEqual([[1, 0, 'dead-lettered', 'MalformedBody', undefined]]);
    expect(reason).toBe('MalformedBody');
    expect(withoutInstants(description ?? '')).toBe(
      'attempt 1 of 3, first failed <instant>, last failed <instant>: ' +
        'MalformedBody: content type "application/octet-stream" is not supported: expected JSON or text',
    );
    expect(Buffer.from(bodyBase64, 'base64')).toEqual(BINARY);
  });
});

// Field case I3.
test('a dead letter tells the whole story of its message to whoever reads the queue', async () => {
  const letter = await deadLetterOf('exhausted');

  expect(JSON.parse(withoutInstants(JSON.stringify(letter)))).toEqual({
    messageId: expect.stringMatching(/^exhausted~r2~[0-9a-f]{8}$/),
    reason: 'AttemptsExhausted',
    description:
      'attempt 3 of 3, first failed <instant>, last failed <instant>: Http503: the payment provider answered 503',
    applicationProperties: {
      'Diagnostic-Id': expect.stringMatching(TRACEPARENT),
      traceparent: expect.stringMatching(TRACEPARENT),
      'retry-version': 1,
      'retry-consumer': 'billing-order-placed/order-placed',
      'retry-event-id': 'exhausted',
      'retry-attempt': 2,
      'retry-first-enqueued-utc': '<instant>',
      'retry-first-failed-utc': '<instant>',
      'retry-last-failed-utc': '<instant>',
      'retry-not-before-utc': '<instant>',
      'retry-deadline-utc': '<instant>',
      'retry-error-code': 'Http503',
      'retry-error-message': 'the payment provider answered 503',
      'retry-history': JSON.stringify([failure(1), failure(2), failure(3)]),
      'retry-policy': 'order-placed',
    },
    bodyBase64: Buffer.from('{"orderId":"order-exhausted","amount":25,"currency":"EUR"}').toString('base64'),
  });
});

test('an event that is delivered twice is charged once', async () => {
  await stage.until('twice', 'duplicate');

  expect(stage.outcomes('twice').filter((outcome) => outcome !== 'deferred')).toEqual(['succeeded', 'duplicate']);
  expect(stage.provider.charges).toContainEqual({ orderId: 'order-twice', count: 1 });
});
