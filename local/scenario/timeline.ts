import { styleText } from 'node:util';
import type { DeadLetterRow, TimedReport } from './result.ts';

type Style = Parameters<typeof styleText>[0];

const STYLES: Readonly<Record<string, Style>> = {
  succeeded: 'green',
  redelivered: 'yellow',
  deferred: 'yellow',
  'dead-lettered': 'red',
  left: 'magenta',
};

/** Colour on a terminal only; `NO_COLOR` is honoured. */
const paint = (style: Style | undefined, text: string): string =>
  style ? styleText(style, text, { stream: process.stdout }) : text;

const seconds = (inMs: number): string => `${(inMs / 1_000).toFixed(1)} s`;

/** One line an attempt: seconds, message, attempt k of n, outcome, reason, next delay. */
export function timelineLine({ atMs, report }: TimedReport, nameWidth: number): string {
  const { eventId, attempt, maxAttempts, outcome, reason, delayInMs } = report;
  const next = delayInMs === undefined ? '' : `next in ${seconds(delayInMs)}`;
  return [
    seconds(atMs).padStart(8),
    eventId.padEnd(nameWidth),
    `attempt ${attempt} of ${maxAttempts}`,
    paint(STYLES[outcome], outcome.padEnd(13)),
    [reason, next].filter(Boolean).join(', '),
  ]
    .join('  ')
    .trimEnd();
}

/** The dead-letter queue, a message in two lines. */
export function deadLetterLines(letters: readonly DeadLetterRow[]): string[] {
  return [
    `dead-letter queue: ${letters.length} message${letters.length === 1 ? '' : 's'}`,
    ...letters.flatMap(({ messageId, reason, description }) => [
      `  ${messageId}  ${paint('red', reason ?? 'no reason')}`,
      `    ${description ?? 'no description'}`,
    ]),
  ];
}
