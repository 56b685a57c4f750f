import { z } from 'zod';
import { CURVES, contradictions, DEFAULT_POLICY, type HostLimits, JITTERS, type RetryPolicy } from './rules/policy.ts';

/** Settings as the platform gives them: strings, all of them optional. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Every problem of the settings at once; its message is one line each. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(
      `The app refuses to start, no message was touched:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
    );
    this.problems = problems;
  }
}

const DAY_IN_MS = 86_400_000;
const inMs = (least: number, most: number) => z.int().min(least).max(most);

/** Bounds of each field; {@link contradictions} holds what they must be to each other. */
const POLICY_FIELDS = {
  attempts: z.int().min(1).max(1_000),
  baseDelayInMs: inMs(1_000, 30 * DAY_IN_MS),
  multiplier: z.number().min(1).max(100),
  capInMs: inMs(1_000, 30 * DAY_IN_MS),
  curve: z.enum(CURVES),
  delaysInMs: z.array(inMs(1_000, 30 * DAY_IN_MS)).max(1_000),
  jitter: z.enum(JITTERS),
  windowInMs: inMs(1_000, 90 * DAY_IN_MS),
  tries: z.int().min(1).max(20),
  tryDelaysInMs: z.array(inMs(0, 60_000)).max(20),
  handlerTimeoutInMs: inMs(100, DAY_IN_MS),
  crashLimit: z.int().min(1).max(100),
  deferralLimit: z.int().min(1).max(100_000),
  unclassified: z.enum(['permanent', 'transient']),
  ordering: z.enum(['strict', 'none']),
  ledger: z.enum(['on', 'off']),
  lockDurationInMs: inMs(5_000, 300_000),
  maxDeliveryCount: z.int().min(2).max(2_000),
  timeToLiveInMs: inMs(1_000, 3_650 * DAY_IN_MS),
  outageInMs: inMs(0, 30 * DAY_IN_MS),
} satisfies Record<Exclude<keyof RetryPolicy, 'rules' | 'secrets'>, z.ZodType>;

type PolicyField = keyof typeof POLICY_FIELDS;

const screaming = (name: string): string =>
  name.replace(/[A-Z]|-/g, (match) => (match === '-' ? '_' : `_${match}`)).toUpperCase();

/** `RETRY__ORDER_PLACED__BASE_DELAY_IN_MS` for the event `order-placed` and the field `baseDelayInMs`. */
export const policySettingName = (eventName: string, field: PolicyField): string =>
  `RETRY__${screaming(eventName)}__${screaming(field)}`;

/** A setting's text as the field's schema wants it: numbers as numbers, lists comma-separated. */
function fromText(schema: z.ZodType, text: string): unknown {
  if (schema instanceof z.ZodArray)
    return text.trim() === '' ? [] : text.split(',').map((item) => fromText(z.number(), item));
  if (schema instanceof z.ZodNumber) return /^\s*-?\d+(\.\d+)?\s*$/.test(text) ? Number(text) : text;
  return text;
}

/** The message and path of each issue, with what was expected; zod says the rest. */
export const problemsOf = (error: z.ZodError): string[] =>
  error.issues.map(({ path, message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message));

/** How a function takes its messages, and what the host permits it. */
export interface Reception extends HostLimits {
  /** Locks are not renewed in a batch: the queue's own lock duration is the limit. */
  readonly batch: boolean;
  readonly sessions: boolean;
}

/**
 * An event's policy: the defaults, then its own, then the settings `RETRY__<EVENT>__<FIELD>`. Problems are pushed, a line
 * each, so that a caller can report those of all events at once.
 */
export function readPolicy(
  eventName: string,
  own: Partial<RetryPolicy>,
  environment: Environment,
  { batch, sessions, ...host }: Reception,
  problems: string[],
): { readonly policy: RetryPolicy; readonly limits: HostLimits } {
  const fields: Record<string, unknown> = { ...DEFAULT_POLICY, ...own };
  const before = problems.length;
  for (const [field, schema] of Object.entries(POLICY_FIELDS) as [PolicyField, z.ZodType][]) {
    const setting = policySettingName(eventName, field);
    const text = environment[setting];
    const where = text === undefined ? `policy of ${eventName}, ${field}` : setting;
    const value = text === undefined ? fields[field] : fromText(schema, text);
    const read = schema.safeParse(value);
    if (read.success) fields[field] = read.data;
    else problems.push(`${where}: ${problemsOf(read.error).join(', ')}; got ${JSON.stringify(text ?? value)}`);
  }
  const policy = fields as unknown as RetryPolicy;
  const limits = batch ? { ...host, maxAutoLockRenewalInMs: policy.lockDurationInMs } : host;
  if (problems.length === before) {
    problems.push(...contradictions(policy, limits).map((problem) => `policy of ${eventName}: ${problem}`));
    if (sessions && policy.ordering === 'strict') {
      problems.push(
        `policy of ${eventName}: ordering is strict, and a redelivered message comes later than those behind it: expected ordering 'none' for a session queue`,
      );
    }
  }
  return { policy, limits };
}

/** Settings under `RETRY__` that name no event or no field: a typing error that would change nothing in silence. */
export function unknownPolicySettings(eventNames: readonly string[], environment: Environment): string[] {
  const known = new Set(
    eventNames.flatMap((name) =>
      Object.keys(POLICY_FIELDS).map((field) => policySettingName(name, field as PolicyField)),
    ),
  );
  return Object.keys(environment)
    .filter((name) => name.startsWith('RETRY__') && !known.has(name))
    .map(
      (name) => `${name}: no such setting; expected RETRY__<EVENT>__<FIELD> with an event of ${eventNames.join(', ')}`,
    );
}

/** What `host.json` of this project says; a test holds them to it. */
const HOST_DEFAULTS = { functionTimeout: '00:07:00', maxAutoLockRenewalDuration: '00:07:30' };

/** The host's limits: as in `host.json`, or as a setting of the platform overrides that. */
export function readHostLimits(environment: Environment, problems: string[]): HostLimits {
  const read = (setting: string, fallback: string): number => {
    const text = environment[setting] ?? fallback;
    const match = /^(?:(\d+)\.)?(\d{1,2}):(\d{2}):(\d{2})$/.exec(text);
    if (!match) {
      problems.push(`${setting}: expected a time span hh:mm:ss, got ${JSON.stringify(text)}`);
      return Number.MAX_SAFE_INTEGER;
    }
    const [days, hours, minutes, seconds] = match.slice(1).map((part) => Number(part ?? 0)) as [
      number,
      number,
      number,
      number,
    ];
    return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1_000;
  };
  return {
    functionTimeoutInMs: read('AzureFunctionsJobHost__functionTimeout', HOST_DEFAULTS.functionTimeout),
    maxAutoLockRenewalInMs: read(
      'AzureFunctionsJobHost__extensions__serviceBus__maxAutoLockRenewalDuration',
      HOST_DEFAULTS.maxAutoLockRenewalDuration,
    ),
  };
}

/** The text with `%NAME%` replaced by the setting, as the host does in bindings. */
export function resolveReferences(text: string, environment: Environment, problems: string[]): string {
  return text.replace(/%([^%]+)%/g, (reference, name: string) => {
    const value = environment[name];
    if (value === undefined)
      problems.push(`${name}: expected a value, as ${reference} is used in ${JSON.stringify(text)}; got none`);
    return value ?? reference;
  });
}

/**
 * How long the ledger remembers an ended event, in ms: `LEDGER_RETENTION_IN_DAYS`, 30 unless set. Shorter than the longest
 * retry window and `REPLAY_HORIZON_IN_DAYS` (14 unless set) together, a replay could run an effect again.
 *
 * @param longestWindowInMs the longest retry window of all events
 */
export function readRetentionInMs(environment: Environment, longestWindowInMs: number, problems: string[]): number {
  const days = (setting: string, fallback: string): number => {
    const text = environment[setting] ?? fallback;
    const value = z.number().positive().max(3_650).safeParse(fromText(z.number(), text));
    if (!value.success)
      problems.push(`${setting}: expected days, more than 0 and up to 3650; got ${JSON.stringify(text)}`);
    return (value.data ?? 0) * DAY_IN_MS;
  };
  const retentionInMs = days('LEDGER_RETENTION_IN_DAYS', '30');
  const horizonInMs = days('REPLAY_HORIZON_IN_DAYS', '14');
  if (retentionInMs > 0 && retentionInMs <= longestWindowInMs + horizonInMs) {
    const leastInDays = (longestWindowInMs + horizonInMs) / DAY_IN_MS;
    problems.push(
      `LEDGER_RETENTION_IN_DAYS: expected more than ${leastInDays.toFixed(2)}, the longest retry window and REPLAY_HORIZON_IN_DAYS together; got ${retentionInMs / DAY_IN_MS}`,
    );
  }
  return retentionInMs;
}
