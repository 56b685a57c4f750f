import { z } from 'zod';
import { durationInMs } from './duration.ts';
import type { Range } from './tier.ts';

const ENTITY_NAME = /^[A-Za-z0-9]$|^[A-Za-z0-9][\w./~-]{0,258}[A-Za-z0-9]$/;
const CHILD_NAME = /^[\w$.-]{1,50}$/;

/** A value checked by hand. `expected` is what the message says; `absent` stands in where the value is missing. */
export function leaf<T>(expected: string, parse: (value: unknown) => T | undefined, absent?: T) {
  return z
    .unknown()
    .optional()
    .transform((value, context) => {
      const parsed = value === undefined && absent !== undefined ? absent : parse(value);
      if (parsed !== undefined) return parsed;
      context.addIssue({ code: 'custom', message: expected });
      return z.NEVER;
    });
}

export function flag() {
  return leaf('true or false', (value) => (typeof value === 'boolean' ? value : undefined), false);
}

/** A duration in ISO 8601, in milliseconds. */
export function duration({ least, most, text }: Range, absent: number) {
  const parse = (value: unknown) => {
    const milliseconds = typeof value === 'string' ? durationInMs(value) : undefined;
    return milliseconds !== undefined && milliseconds >= least && milliseconds <= most ? milliseconds : undefined;
  };
  return leaf(text, parse, absent);
}

export function integer({ least, most, text }: Range, absent: number) {
  const isValid = (value: unknown) => Number.isInteger(value) && Number(value) >= least && Number(value) <= most;
  return leaf(text, (value) => (isValid(value) ? Number(value) : undefined), absent);
}

export function optionalText() {
  return leaf<string>('a string', (value) => (typeof value === 'string' ? value : undefined), '');
}

/** The name of a queue or a topic. */
export function entityName() {
  return leaf('a name of 1 to 260 letters, digits, and . / ~ _ - between them', (value) =>
    typeof value === 'string' && ENTITY_NAME.test(value) ? value : undefined,
  );
}

/** The name of a subscription or a rule. */
export function childName() {
  return leaf('a name of 1 to 50 letters, digits, and . _ - $', (value) =>
    typeof value === 'string' && CHILD_NAME.test(value) ? value : undefined,
  );
}
