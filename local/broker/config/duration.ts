const DAY_IN_MS = 86_400_000;
/** The longest duration that .NET can express; the service takes it, and all above 10,000 days, for "without end". */
const ENDLESS_FROM_IN_MS = 10_000 * DAY_IN_MS;
const DURATION = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;

/** An ISO 8601 duration of days and smaller in milliseconds, `undefined` when the text is none. */
export function durationInMs(text: string): number | undefined {
  const match = DURATION.exec(text);
  if (match === null || /^P$|T$/.test(text)) return undefined;
  const [, days = '0', hours = '0', minutes = '0', seconds = '0'] = match;
  const sum = Number(days) * DAY_IN_MS + Number(hours) * 3_600_000 + Number(minutes) * 60_000 + Number(seconds) * 1000;
  return sum >= ENDLESS_FROM_IN_MS ? Number.POSITIVE_INFINITY : sum;
}
