import { describe, expect, test } from 'vitest';
import { PermanentError, TransientError } from '../../../../functions/core/rules/errors.ts';
import { aDelivery, aPolicy, CONSUMER } from '../../../fixtures/deliveries.ts';
import { aWatchedConsumer, lineOf } from './a-watched-consumer.ts';

const INVOCATION = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const MESSAGE = '00-11111111111111111111111111111111-2222222222222222-01';

test('the attempts of an event are one chain: each is the child of what sent its copy', async () => {
  const consumer = aWatchedConsumer(async ({ attempt }) => {
    if (attempt < 3) throw new TransientError('down');
  });
  await consumer.deliverAll(aDelivery());

  const spans = consumer.spans();
  const queue = 'billing-order-placed';
  const attempt1 = `process ${queue} failed TransientError`;
  const attempt2 = `process ${queue} failed TransientError < send ${queue} < ${attempt1}`;
  const attempt3 = `process ${queue} < send ${queue} < ${attempt2}`;
  expect(spans.map((span) => lineOf(span, spans))).toEqual([
    `send ${queue} < ${attempt1}`,
    `complete ${queue} < ${attempt1}`,
    attempt1,
    `send ${queue} < ${attempt2}`,
    `complete ${queue} < ${attempt2}`,
    attempt2,
    `complete ${queue} < ${attempt3}`,
    attempt3,
  ]);
  expect(new Set(spans.map((span) => span.spanContext().traceId)).size).toBe(1);
});

test('a dead letter is a failed delivery that says why, with its settlement as a child', async () => {
  const consumer = aWatchedConsumer(() => Promise.reject(new PermanentError('UnsupportedCurrency', 'XXX')));
  await consumer.deliver(aDelivery({ deliveryCount: 2 }));

  const spans = consumer.spans();
  expect(spans.map((span) => [lineOf(span, spans), span.attributes])).toEqual([
    [
      'dead_letter billing-order-placed < process billing-order-placed failed UnsupportedCurrency',
      {
        'messaging.system.name': 'azure.servicebus',
        'messaging.operation.type': 'settle',
        'messaging.operation.name': 'dead_letter',
        'messaging.destination.name': 'billing-order-placed',
        'messaging.message.id': 'A',
        'azure.servicebus.disposition_status': 'dead_letter',
      },
    ],
    [
      'process billing-order-placed failed UnsupportedCurrency',
      {
        'messaging.system.name': 'azure.servicebus',
        'messaging.operation.type': 'process',
        'messaging.operation.name': 'process',
        'messaging.destination.name': 'billing-order-placed',
        'messaging.message.id': 'A',
        'azure.servicebus.message.delivery_count': 2,
        'redelivery.event_id': 'A',
        'redelivery.generation': 0,
        'redelivery.consumer': CONSUMER,
        'redelivery.attempt': 1,
        'redelivery.outcome': 'dead-lettered',
        'redelivery.reason': 'UnsupportedCurrency',
        'error.type': 'UnsupportedCurrency',
      },
    ],
  ]);
});

describe('a process that dies in the handler', () => {
  const message = aDelivery({ properties: { 'Diagnostic-Id': MESSAGE } });

  async function afterACrash() {
    const consumer = aWatchedConsumer(async () => undefined);
    await consumer.deliverAndDie(message);
    await consumer.deliverAgain(message);
    return consumer;
  }

  test('leaves no span; the delivery that takes over says so, in the trace of the message', async () => {
    const spans = (await afterACrash()).spans();

    expect(spans.map((span) => lineOf(span, spans))).toEqual([
      'complete billing-order-placed < process billing-order-placed',
      'process billing-order-placed',
    ]);
    const takeover = spans.at(-1);
    expect(takeover?.parentSpanContext).toMatchObject({
      traceId: '11111111111111111111111111111111',
      spanId: '2222222222222222',
    });
    expect(takeover?.attributes).toMatchObject({
      'messaging.message.id': 'A',
      'azure.servicebus.message.delivery_count': 2,
      'redelivery.event_id': 'A',
      'redelivery.attempt': 1,
      'redelivery.takeovers': 1,
      'redelivery.outcome': 'succeeded',
    });
  });

  test('leaves no line; those of the delivery that takes over are joined by the event', async () => {
    expect((await afterACrash()).lines()).toMatchObject([
      {
        level: 'warning',
        event: 'delivery.note',
        message: 'takes over: runs without an outcome so far: 1',
        eventId: 'A',
      },
      { level: 'information', event: 'delivery.processed', eventId: 'A', attempt: 1, deliveryCount: 2, tries: 1 },
    ]);
  });

  test('again and again ends in one trace as well, with a dead letter that says what it is', async () => {
    const consumer = aWatchedConsumer(async () => undefined);
    await consumer.deliverAndDie(message);
    for (const deliveryCount of [2, 3]) {
      await consumer.pass(aPolicy().handlerTimeoutInMs + 60_000);
      await consumer.deliverAndDie({ ...message, deliveryCount, lockedUntilUtc: undefined });
    }
    await consumer.deliverAgain({ ...message, deliveryCount: 3 });

    const spans = consumer.spans();
    expect(spans.map((span) => lineOf(span, spans))).toEqual([
      'dead_letter billing-order-placed < process billing-order-placed failed PoisonMessage',
      'process billing-order-placed failed PoisonMessage',
    ]);
    expect(spans.at(-1)?.attributes).toMatchObject({ 'redelivery.takeovers': 3, 'error.type': 'PoisonMessage' });
    expect(new Set(spans.map((span) => span.spanContext().traceId))).toEqual(new Set([MESSAGE.split('-')[1]]));
  });
});

describe('the span of a delivery', () => {
  const parentAndLinks = async (properties: Record<string, string | number>, traceparent?: string) => {
    const consumer = aWatchedConsumer(async () => undefined);
    await consumer.deliver(aDelivery({ properties }), traceparent);
    const span = consumer.spans().at(-1);
    return {
      parent: span?.parentSpanContext?.spanId,
      links: span?.links.map(({ context }) => context.spanId),
    };
  };

  test('goes on with the trace of the invocation', async () => {
    expect(await parentAndLinks({}, INVOCATION)).toEqual({ parent: 'b7ad6b7169203331', links: [] });
  });

  test('goes on with the invocation where that goes on with the message', async () => {
    const sent = '00-0af7651916cd43dd8448eb211c80319c-3333333333333333-01';
    expect(await parentAndLinks({ 'Diagnostic-Id': sent }, INVOCATION)).toEqual({
      parent: 'b7ad6b7169203331',
      links: [],
    });
  });

  // Field case O1.
  test('goes on with the trace of the message where the host has begun another, and links to that', async () => {
    expect(await parentAndLinks({ 'Diagnostic-Id': MESSAGE }, INVOCATION)).toEqual({
      parent: '2222222222222222',
      links: ['b7ad6b7169203331'],
    });
  });

  test('of a replay links to what it brings back, and is no part of it', async () => {
    const replay = { 'Diagnostic-Id': MESSAGE, DeadLetterReason: 'AttemptsExhausted' };
    expect(await parentAndLinks(replay, INVOCATION)).toEqual({
      parent: 'b7ad6b7169203331',
      links: ['2222222222222222'],
    });
    const byTool = { 'Diagnostic-Id': MESSAGE, 'replay-count': 1, 'retry-consumer': CONSUMER };
    expect(await parentAndLinks(byTool)).toEqual({ parent: undefined, links: ['2222222222222222'] });
  });

  test('begins a trace where nothing is known, or what is known is no trace context', async () => {
    expect(await parentAndLinks({ 'Diagnostic-Id': '|old.style.' }, 'nonsense')).toEqual({
      parent: undefined,
      links: [],
    });
  });
});
