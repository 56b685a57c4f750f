import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OtlpReceiver, startOtlpReceiver } from './otlp-receiver.ts';
import { retryRatio } from './retry-ratio.ts';
import { runTheThree } from './the-three.ts';

const SLOW = 120_000;
const CONSUMER = { 'redelivery.consumer': 'billing-order-placed/order-placed' };

let receiver: OtlpReceiver;
beforeAll(async () => {
  receiver = await startOtlpReceiver();
  await runTheThree({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
}, SLOW);
afterAll(() => receiver.stop());

/** Values of a counter, or counts of a histogram, by the attributes that are not the consumer. */
const valuesOf = (metric: string): Record<string, number> =>
  Object.fromEntries(
    receiver.points
      .filter(({ name }) => name === metric)
      .map(({ value, attributes }) => {
        const { 'redelivery.consumer': _, ...rest } = attributes;
        return [Object.values(rest).join(), value];
      }),
  );

describe('an endpoint for OTLP receives of an app that redelivers, succeeds and dead-letters', () => {
  test('what became of the deliveries', () => {
    expect(valuesOf('redelivery.deliveries')).toEqual({ redelivered: 4, succeeded: 1, 'dead-lettered': 2 });
    expect(valuesOf('redelivery.redeliveries')).toEqual({ 2: 2, 3: 2 });
    expect(valuesOf('redelivery.dead_letters')).toEqual({ UnsupportedCurrency: 1, AttemptsExhausted: 1 });
    expect(valuesOf('redelivery.delay.planned')).toEqual({ '': 4 });
    expect(receiver.points.find(({ name }) => name === 'redelivery.tries')).toEqual({
      name: 'redelivery.tries',
      unit: '{try}',
      value: 7,
      sum: undefined,
      attributes: CONSUMER,
    });
  });

  test('delays that are at least as long as planned', () => {
    const sumOf = (metric: string) => receiver.points.find(({ name }) => name === metric)?.sum ?? 0;
    expect(sumOf('redelivery.delay.planned')).toBeCloseTo(6, 1);
    expect(sumOf('redelivery.delay.actual')).toBeGreaterThanOrEqual(5.9);
  });

  test('the retry ratio that the scenario implies: 4 of 7 attempts want another', () => {
    expect(retryRatio(receiver.points)).toEqual({ attempts: 7, retryRatio: 4 / 7 });
  });

  test('each event as one trace over all its attempts', () => {
    const chain = receiver.spans
      .filter(({ attributes }) => attributes['redelivery.event_id'] === 'A')
      .sort((a, b) => Number(a.attributes['redelivery.attempt']) - Number(b.attributes['redelivery.attempt']));
    expect(chain.map(({ name, attributes }) => [name, attributes['redelivery.outcome']])).toEqual([
      ['process billing-order-placed', 'redelivered'],
      ['process billing-order-placed', 'redelivered'],
      ['process billing-order-placed', 'succeeded'],
    ]);
    expect(new Set(chain.map(({ traceId }) => traceId)).size).toBe(1);
  });

  // Field case O2.
  test('the line of each delivery, in the trace of its event', () => {
    const reports = receiver.logs
      .filter(({ body }) => body.includes('delivery.processed'))
      .map(({ body, traceId }) => ({ traceId, ...JSON.parse(body) }));
    expect(reports).toHaveLength(7);
    const traces = (eventId: string) =>
      new Set(reports.filter((report) => report.eventId === eventId).map(({ traceId }) => traceId));
    const ofA = receiver.spans.find(({ attributes }) => attributes['redelivery.event_id'] === 'A');
    expect([...traces('A')]).toEqual([ofA?.traceId]);
  });
});
