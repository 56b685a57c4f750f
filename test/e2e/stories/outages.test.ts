import { existsSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EntityStatus } from '../../../local/broker/model/queue-settings.ts';
import { connectionsTo } from '../../helpers/connections.ts';
import { needs } from '../support/target.ts';
import { aTheatre, type Theatre } from '../support/theatre.ts';

let theatre: Theatre;

beforeAll(async () => {
  theatre = await aTheatre();
});

afterAll(() => theatre?.stop());

test('an app that may not send does not start, and touches no message', async (context) => {
  needs(context, 'faults');
  const { broker } = theatre;
  const story = await theatre.story('no-right');
  await story.send({ untouched: [[['charge']]] });
  broker.faults.refuseSends('Unauthorized', Number.POSITIVE_INFINITY);

  await expect(story.startHost()).rejects.toThrow(
    /^The app refuses to start, no message was touched:\n {2}- sending to no-right: UnauthorizedAccess: .*'Send' claim\(s\) are required/,
  );

  expect(story.runs()).toEqual([]);
  const messages = broker.namespace.queue('no-right').peek(0, 10);
  expect(messages.map(({ state, deliveryCount }) => [state, deliveryCount])).toEqual([['active', 0]]);
  broker.faults.clear();
  await story.startHost({ RETRY__SCRIPTED__HANDLER_TIMEOUT_IN_MS: '60000' });
  await story.end();
});

const OUTAGE_IN_MS = 30_000;

// Field case D5.
test('a broker that is gone for 30 s is found by the app as it runs, and no effect is repeated', async (context) => {
  needs(context, 'faults');
  const { broker, director, provider } = theatre;
  // Those of the one end during the outage, those of the other outlive it.
  const short = await theatre.story('short-locks', { queue: { lockDurationInMs: 5_000 } });
  const long = await theatre.story('long-locks', { queue: { lockDurationInMs: 60_000 } });
  const stories = [short, long];
  for (const story of stories) await story.startHost({ RETRY__SCRIPTED__HANDLER_TIMEOUT_IN_MS: '45000' });
  for (const story of stories) {
    await story.send({
      before: [[['charge']]],
      through: [[['waitFor', 'broker back'], ['charge']]],
      ...(story === short && {
        charging: [[['waitFor', 'broker gone'], ['charge']]],
        failing: [[['waitFor', 'broker gone'], ['failTransient']], [['charge']]],
      }),
    });
  }
  for (const story of stories) await story.until(() => expect(story.outcomes('before')).toEqual(['succeeded']));
  await short.until(() => expect(short.runs()).toHaveLength(4));
  await long.until(() => expect(long.runs()).toHaveLength(2));
  const pids = stories.map((story) => story.runs('before')[0]?.pid ?? 0);
  const connections = () => pids.map((pid) => connectionsTo(broker.port, pid));
  if (existsSync('/proc/net/tcp')) expect(connections()).toEqual([1, 1]);

  await broker.suspend();
  const goneAtInMs = performance.now();
  director.open('broker gone');
  // The copy of the one is refused again and again, the other has its effect.
  const refusals = () => short.log.filter(({ message }) => message.includes('sending to short-locks: '));
  await short.until(() => expect(refusals().length).toBeGreaterThanOrEqual(2));
  await short.until(() => expect(provider.charges.map(({ orderId }) => orderId)).toContain(short.eventId('charging')));
  await short.until(() => expect(performance.now() - goneAtInMs).toBeGreaterThanOrEqual(OUTAGE_IN_MS));
  await broker.resume();
  director.open('broker back');
  for (const story of stories) await story.send({ after: [[['failTransient']], [['charge']]] });
  const { runs } = await short.end();
  const { outcomes } = await long.end();

  expect(runs).toBe(7);
  for (const [n, story] of stories.entries())
    expect(new Set(story.runs().map(({ pid }) => pid))).toEqual(new Set([pids[n]]));
  // In no order: what is done on a lock that has ended meanwhile is told later than the next delivery.
  expect(short.outcomes('failing')).toEqual(expect.arrayContaining(['redelivered', 'succeeded']));
  for (const name of ['charging', 'through']) expect(short.outcomes(name)).toContain('succeeded');
  // A lock that still holds is settled over the new connection, although the message came over the old one.
  expect(outcomes).toEqual({ succeeded: 3, redelivered: 1 });
  if (existsSync('/proc/net/tcp')) expect(connections()).toEqual([1, 1]);
});

// What the runbook says to do while the other side is down.
test('a queue that is closed to receivers keeps what comes, and goes on where it was when it is opened', async (context) => {
  needs(context, 'faults');
  const { broker, director } = theatre;
  const story = await theatre.story('closed');
  const setStatus = (status: EntityStatus) => {
    const queue = broker.namespace.queue('closed');
    queue.update({ ...queue.settings, status });
  };
  await story.startHost({ RETRY__SCRIPTED__HANDLER_TIMEOUT_IN_MS: '60000' });
  await story.send({ running: [[['waitFor', 'closed'], ['charge']]] });
  await story.until(() => expect(story.runs()).toHaveLength(1));

  setStatus('ReceiveDisabled');
  await story.send({ late: [[['charge']]] });
  director.open('closed');
  await story.until(() => expect(story.reportsOf('running')).not.toEqual([]));
  expect(story.runs('late')).toEqual([]);
  setStatus('Active');
  const { runs, attempts } = await story.end();

  expect({ runs, attempts }).toEqual({ runs: 2, attempts: 1 });
});
