import { afterEach, beforeEach, expect, test } from 'vitest';
import { removeFolder } from '../helpers/temporary-folder.ts';
import { anApp } from './support/an-app.ts';
import { anOrder, FAST_POLICY } from './support/orders.ts';
import { aStage, type Stage } from './support/stage.ts';

/** Far longer than any test: what is redelivered after it is not seen again. */
const LATER = { ...FAST_POLICY, RETRY__ORDER_PLACED__BASE_DELAY_IN_MS: '120000' };

let app: string;
let stage: Stage;

beforeEach(async () => {
  app = await anApp({
    'host.json': ({ extensions }) => {
      extensions.serviceBus['maxConcurrentCalls'] = 1;
    },
  });
  stage = await aStage(app, LATER);
});

afterEach(async () => {
  await stage.stop();
  await removeFolder(app);
});

test.each([
  { what: 'slow', provider: ['timeout'], reason: 'HandlerTimeout' },
  { what: 'failing', provider: [503], reason: 'Http503' },
])('one $what message does not hold up three healthy ones at concurrency 1', async ({ provider, reason }) => {
  await stage.send(anOrder('ill', provider), anOrder('one'), anOrder('two'), anOrder('three'));

  await stage.startHost();
  await stage.until('three', 'succeeded');

  expect(stage.reports.map(({ eventId, outcome, reason }) => [eventId, outcome, reason])).toEqual([
    ['ill', 'redelivered', reason],
    ['one', 'succeeded', undefined],
    ['two', 'succeeded', undefined],
    ['three', 'succeeded', undefined],
  ]);
  expect(stage.invocations.slice(0, 7).map(({ kind }) => kind)).toEqual([
    ...['started', 'succeeded', 'started', 'succeeded', 'started', 'succeeded'],
    'started',
  ]);
  expect((await stage.messages()).map(({ state }) => state)).toEqual(['scheduled']);
});
