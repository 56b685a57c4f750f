import { Cron } from 'croner';
import { timeSpanInMs } from '../time-span.ts';

/** When a timer fires. */
export interface Schedule {
  /** The first instant strictly after the given one; undefined when there is none. */
  nextAfter(instantUtc: Date): Date | undefined;
}

/** The signs and names of NCRONTAB; `?`, `L`, `W`, `#` and `@daily` belong to other dialects. */
const FIELD = /^(?:[0-9*,/-]|[A-Za-z]{3,})+$/;

/**
 * Reads the schedule of a timer trigger: NCRONTAB (`{second} {minute} {hour} {day} {month} {day-of-week}`, or without
 * seconds), or a time span for a steady interval. A day must fit both its month and its week, unlike in most crons.
 *
 * @param timeZone IANA name; the real host takes it from `WEBSITE_TIME_ZONE` and uses UTC without it.
 * @throws Error with one line; `where` names the trigger.
 */
export function parseSchedule(text: string, timeZone: string, where: string): Schedule {
  const intervalInMs = timeSpanInMs(text);
  if (intervalInMs !== undefined && intervalInMs > 0) {
    return { nextAfter: (instantUtc) => new Date(instantUtc.getTime() + intervalInMs) };
  }
  const fields = text.trim().split(/\s+/);
  if (fields.length < 5 || fields.length > 6 || !fields.every((field) => FIELD.test(field))) {
    throw refusal(text, where, 'it is no NCRONTAB expression');
  }
  try {
    const cron = new Cron(fields.join(' '), { timezone: timeZone, domAndDow: true, paused: true });
    cron.nextRun();
    return { nextAfter: (instantUtc) => cron.nextRun(instantUtc) ?? undefined };
  } catch (error) {
    throw refusal(text, where, (error as Error).message);
  }
}

function refusal(text: string, where: string, why: string): Error {
  return new Error(
    `${where} has the schedule ${JSON.stringify(text)}: ${why}. Expected "{second} {minute} {hour} {day} {month} {day-of-week}", e.g. "0 */5 * * * *".`,
  );
}
