import { existsSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
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

// Two seconds of outage, not thirty: what is cut is the same, and nothing here waits for less than its end.
test('a broker that goes and comes back is found by the app as it runs, and no effect is repeated', async (context) => {
  needs(context, 'faults');
  const { broker, director, provider } = theatre;
  const story = await theatre.story('outage');
  await story.startHost({ RETRY__SCRIPTED__HANDLER_TIMEOUT_IN_MS: '60000' });
  await story.send({
    before: [[['charge']]],
    charging: [[['waitFor', 'broker gone'], ['charge']]],
    failing: [[['waitFor', 'broker gone'], ['failTransient']], [['charge']]],
  });
  await story.until(() => expect(story.outcomes('before')).toEqual(['succeeded']));
  await story.until(() => expect(story.runs()).toHaveLength(3));
  const pid = story.runs('before')[0]?.pid ?? 0;
  const connections = () => connectionsTo(broker.port, pid);
  if (existsSync('/proc/net/tcp')) expect(connections()).toBe(1);

  await broker.suspend();
  director.open('broker gone');
  // The copy of the one is refused again and again, the other has its effect.
  const refusals = () => story.log.filter(({ message }) => message.includes('sending to outage: '));
  await story.until(() => expect(refusals().length).toBeGreaterThanOrEqual(2));
  await story.until(() => expect(provider.charges.map(({ orderId }) => orderId)).toContain(story.eventId('charging')));
  await broker.resume();
  await story.send({ after: [[['charge']]] });
  const { runs } = await story.end();

  expect(runs).toBe(5);
  expect(new Set(story.runs().map((run) => run.pid))).toEqual(new Set([pid]));
  // In no order: a settlement on a link that was cut may take longer than the next delivery.
  expect(story.outcomes('failing')).toEqual(expect.arrayContaining(['redelivered', 'succeeded']));
  expect(story.outcomes('charging')).toContain('succeeded');
  if (existsSync('/proc/net/tcp')) expect(connections()).toBe(1);
});
