const TIME_SPAN = /^(-)?(?:(\d+)\.)?(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,7}))?)?$/;

/** A .NET time span, `[-][d.]hh:mm[:ss[.fffffff]]`, in ms, or undefined where the text is none. */
export function timeSpanInMs(text: string): number | undefined {
  const match = TIME_SPAN.exec(text.trim());
  if (!match) return undefined;
  const [, sign, days = '0', hours = '0', minutes = '0', seconds = '0', fraction = '0'] = match;
  if (Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59) return undefined;
  const wholeInS = ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds);
  const inMs = wholeInS * 1000 + Math.round(Number(`0.${fraction}`) * 1000);
  return sign ? -inMs : inMs;
}
