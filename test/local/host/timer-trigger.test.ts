import { afterEach, describe, expect, test } from 'vitest';
import { type Host, startHost } from '../../../local/host/start-host.ts';
import { parseSchedule } from '../../../local/host/timer/schedule.ts';
import { takeStock } from '../../helpers/leftovers.ts';
import { aLog, fixtureApp } from './support.ts';

describe('timer triggers', () => {
  const log = aLog();
  const nothingIsLeft = takeStock();
  let host: Host | undefined;

  afterEach(async () => {
    await host?.stop();
    host = undefined;
    await nothingIsLeft();
    log.entries.length = 0;
  });

  async function start(every: string): Promise<void> {
    const settings = {
      EVERY: every,
      ServiceBus: 'Endpoint=sb://127.0.0.1:1;SharedAccessKeyName=n;SharedAccessKey=k;UseDevelopmentEmulator=true;',
    };
    host = await startHost({ appDirectory: fixtureApp('clock'), settings, onLog: log.onLog });
  }

  const said = (functionName: string) =>
    log.entries.filter(({ category }) => category === `Function.${functionName}.User`).map(({ message }) => message);

  test('fire by their schedule, with the status the real host sends', async () => {
    await start('* * * * * *');
    await expect.poll(() => said('tick').length, { timeout: 5_000 }).toBeGreaterThanOrEqual(2);

    const [first, second] = said('tick').map((line) => JSON.parse(line));
    const isoDate = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const never = '0001-01-01T00:00:00+00:00';
    expect(first).toEqual({
      schedule: { adjustForDST: true },
      scheduleStatus: { last: never, next: isoDate, lastUpdated: never },
      isPastDue: false,
    });
    expect(second.scheduleStatus.last).toEqual(isoDate);
  });

  test('fire at the start where runOnStartup says so', async () => {
    await start('0 0 0 1 1 *');

    await expect.poll(() => said('atStart')).toEqual(['started']);

    expect(said('tick')).toEqual([]);
    expect(log.messages()).toContainEqual(
      expect.stringMatching(/^Executing 'Functions\.atStart' \(Reason='Timer fired at /),
    );
  });

  test('with a wrong schedule keep the host from starting', async () => {
    await expect(start('every minute')).rejects.toThrow(
      'The trigger of function "tick" has the schedule "every minute":',
    );
  });

  test('a trigger that the host does not serve gives a warning', async () => {
    await start('0 0 0 1 1 *');

    expect(log.messages()).toContain(
      'Function "unserved" never runs: the local host serves no trigger of the type eventGridTrigger.',
    );
  });
});

describe('a schedule', () => {
  const from = new Date('2026-01-02T17:58:30Z');

  test.each([
    ['0 */5 * * * *', 'UTC', '2026-01-02T18:00:00.000Z'],
    ['*/5 * * * *', 'UTC', '2026-01-02T18:00:00.000Z'],
    ['30 59 9-17 * * 1-5', 'UTC', '2026-01-02T17:59:30.000Z'],
    ['0 0 9 * jan Mon', 'UTC', '2026-01-05T09:00:00.000Z'],
    ['0 0 9 * * *', 'Europe/Berlin', '2026-01-03T08:00:00.000Z'],
    ['0 0 0 13 * 5', 'UTC', '2026-02-13T00:00:00.000Z'],
    ['00:05:00', 'UTC', '2026-01-02T18:03:30.000Z'],
  ])('%s in %s fires next at %s', (text, timeZone, expected) => {
    expect(parseSchedule(text, timeZone, 'It').nextAfter(from)?.toISOString()).toBe(expected);
  });

  test.each(['', '* * * *', '0 0 0 ? * MON', '@daily', '0 0 25 * * *', '0 0 0 L * *'])('is refused as %j', (text) => {
    expect(() => parseSchedule(text, 'UTC', 'It')).toThrow(/^It has the schedule .* Expected "\{second\} \{minute\}/);
  });

  test('is refused in a time zone that is none', () => {
    expect(() => parseSchedule('0 * * * * *', 'Nowhere/Else', 'It')).toThrow('It has the schedule');
  });
});
