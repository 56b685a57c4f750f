import fc from 'fast-check';
import { expect, test } from 'vitest';
import { serverClock } from '../../../../functions/core/adapters/table-storage/server-clock.ts';

const NOON = 'Thu, 15 Jan 2026 12:00:00 GMT';
const NOON_UTC = Date.parse(NOON);

/** Far from any instant, as monotonic clocks are. */
const SENT_IN_MS = 5_000_000;
const RECEIVED_IN_MS = 5_000_040;

test('knows nothing before the first response, nor from a response without a date', () => {
  const clock = serverClock();
  clock.observe(undefined, SENT_IN_MS, RECEIVED_IN_MS);
  clock.observe('yesterday', SENT_IN_MS, RECEIVED_IN_MS);

  expect(clock.at(RECEIVED_IN_MS)).toBeUndefined();
});

test('places the date no later than the reply, and within its second from the request', () => {
  const clock = serverClock();
  clock.observe(NOON, SENT_IN_MS, RECEIVED_IN_MS);

  expect(clock.at(RECEIVED_IN_MS)).toEqual({ earliestUtc: NOON_UTC, latestUtc: NOON_UTC + 1_040 });
});

test('runs on with the monotonic clock, a little less sure with time', () => {
  const clock = serverClock();
  clock.observe(NOON, SENT_IN_MS, RECEIVED_IN_MS);

  expect(clock.at(RECEIVED_IN_MS + 60_000)).toEqual({
    earliestUtc: NOON_UTC + 60_000 - 30,
    latestUtc: NOON_UTC + 60_000 + 1_040 + 30,
  });
});

test('is narrowed by a second response that sees the second change', () => {
  const clock = serverClock();
  clock.observe(NOON, SENT_IN_MS, SENT_IN_MS);
  clock.observe('Thu, 15 Jan 2026 12:00:01 GMT', SENT_IN_MS + 100, SENT_IN_MS + 100);

  // The second ended within those 100 ms.
  expect(clock.at(SENT_IN_MS + 100)).toEqual({ earliestUtc: NOON_UTC + 1_000, latestUtc: NOON_UTC + 1_101 });
});

test('is narrowed by a second response that sees the same second still', () => {
  const clock = serverClock();
  clock.observe(NOON, SENT_IN_MS, SENT_IN_MS);
  clock.observe(NOON, SENT_IN_MS + 900, SENT_IN_MS + 900);

  expect(clock.at(SENT_IN_MS + 900)).toEqual({ earliestUtc: NOON_UTC + 899, latestUtc: NOON_UTC + 1_000 });
});

test('follows the latest response alone where that contradicts the ones before', () => {
  const clock = serverClock();
  clock.observe(NOON, SENT_IN_MS, SENT_IN_MS);
  clock.observe('Thu, 15 Jan 2026 13:00:00 GMT', SENT_IN_MS + 10, SENT_IN_MS + 10);

  expect(clock.at(SENT_IN_MS + 10)).toEqual({ earliestUtc: NOON_UTC + 3_600_000, latestUtc: NOON_UTC + 3_601_000 });
});

test('always holds the true time between its bounds, whatever the latencies', () => {
  const response = fc.record({
    pause: fc.integer({ min: 0, max: 3_600_000 }),
    there: fc.integer({ min: 0, max: 5_000 }),
    back: fc.integer({ min: 0, max: 5_000 }),
  });
  const offset = fc.integer({ min: 0, max: 4e12 });
  fc.assert(
    fc.property(offset, fc.array(response, { minLength: 1, maxLength: 20 }), (offsetInMs, responses) => {
      const clock = serverClock();
      let now = 0;
      for (const { pause, there, back } of responses) {
        const sent = now + pause;
        const answered = sent + there;
        now = answered + back;
        clock.observe(new Date(answered + offsetInMs).toUTCString(), sent, now);
        const { earliestUtc, latestUtc } = clock.at(now) ?? expect.fail('no time');
        expect(earliestUtc).toBeLessThanOrEqual(now + offsetInMs);
        expect(latestUtc).toBeGreaterThanOrEqual(now + offsetInMs);
      }
    }),
  );
});
