import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Script } from '../support/director.ts';
import { aTheatre, type Theatre } from '../support/theatre.ts';

let theatre: Theatre;

beforeAll(async () => {
  theatre = await aTheatre();
});

afterAll(() => theatre?.stop());

const FOUR_AT_A_TIME = {
  AzureFunctionsJobHost__extensions__serviceBus__maxConcurrentCalls: '4',
  RETRY__SCRIPTED__HANDLER_TIMEOUT_IN_MS: '60000',
};
const GOOD: Script = [[['work', 100], ['charge']]];
const RECOVERS: Script = [[['failTransient']], [['charge']]];
const CHARGED_THEN_FAILS: Script = [[['charge'], ['failTransient']], [['charge']]];
const EXHAUSTED: Script = [[['failTransient']]];
const PERMANENT: Script = [[['failPermanent']]];

describe('on one queue', () => {
  test.each([1, 2, 3])('%d hosts charge each event once', async (count) => {
    const story = await theatre.story(`hosts-${count}`);
    await Promise.all(Array.from({ length: count }, () => story.startHost(FOUR_AT_A_TIME)));
    await story.send({
      ...Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`good-${n}`, GOOD])),
      ...Object.fromEntries(Array.from({ length: 4 }, (_, n) => [`recovers-${n}`, RECOVERS])),
      'charged-then-fails': CHARGED_THEN_FAILS,
      exhausted: EXHAUSTED,
      permanent: PERMANENT,
    });

    const tally = await story.end({ exhausted: 'AttemptsExhausted', permanent: 'NotEver' });

    expect(tally).toMatchObject({
      charges: 25,
      deadLetters: { AttemptsExhausted: 1, NotEver: 1 },
      runs: 20 + 4 * 2 + 2 + 3 + 1,
      attempts: 3,
    });
    expect(new Set(story.runs().map(({ pid }) => pid)).size).toBe(count);
  });
});
