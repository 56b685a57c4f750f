import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { LEVEL_NAMES, type LogLevels, levelOf } from './log-levels.ts';
import { withOverrides } from './setting-overrides.ts';
import type { Settings } from './setting-reference.ts';
import { timeSpanInMs } from './time-span.ts';

/** The part of host.json that this host acts on, with the real host's defaults filled in. */
export interface HostConfig {
  /** How long one invocation may take, in ms; undefined is without limit (`-1`). Default 30 minutes. */
  readonly functionTimeoutInMs: number | undefined;
  readonly serviceBus: ServiceBusConfig;
  /** Prefix of HTTP routes, without slashes; may be empty. */
  readonly httpRoutePrefix: string;
  readonly logLevels: LogLevels;
}

/** `extensions.serviceBus` of the 5.x extension. */
export interface ServiceBusConfig {
  readonly prefetchCount: number;
  readonly autoCompleteMessages: boolean;
  readonly maxAutoLockRenewalDurationInMs: number;
  readonly maxConcurrentCalls: number;
  readonly maxMessageBatchSize: number;
  readonly minMessageBatchSize: number;
  readonly maxBatchWaitTimeInMs: number;
  readonly maxConcurrentSessions: number;
  readonly maxConcurrentCallsPerSession: number;
  /** How long a session without messages is held, in ms; undefined is the client's own limit of a minute. */
  readonly sessionIdleTimeoutInMs: number | undefined;
}

/** Keys of the 5.x extension; the second list is understood by the real one and has no effect here. */
const SERVICE_BUS_KEYS = [
  'prefetchCount',
  'autoCompleteMessages',
  'maxAutoLockRenewalDuration',
  'maxConcurrentCalls',
  'maxMessageBatchSize',
  'minMessageBatchSize',
  'maxBatchWaitTime',
  'maxConcurrentSessions',
  'maxConcurrentCallsPerSession',
  'sessionIdleTimeout',
];
const SERVICE_BUS_KEYS_WITHOUT_EFFECT = [
  'clientRetryOptions',
  'transportType',
  'webProxy',
  'enableCrossEntityTransactions',
];
/** What the 4.x extension and the one before it were told by; the real host ignores them in silence. */
const OLD_SERVICE_BUS_KEYS: Readonly<Record<string, string>> = {
  messageHandlerOptions: 'its fields stand directly in extensions.serviceBus now',
  sessionHandlerOptions: 'its fields stand directly in extensions.serviceBus now',
  batchOptions: 'its fields stand directly in extensions.serviceBus now',
  autoComplete: 'it is autoCompleteMessages now',
  maxAutoRenewDuration: 'it is maxAutoLockRenewalDuration now',
  maxConcurrentSession: 'it is maxConcurrentSessions now',
};
const ROOT_KEYS = [
  '$schema',
  'version',
  'functionTimeout',
  'extensions',
  'extensionBundle',
  'telemetryMode',
  'aggregator',
  'concurrency',
  'customHandler',
  'functions',
  'healthMonitor',
  'logging',
  'managedDependency',
  'singleton',
  'watchDirectories',
  'watchFiles',
];
const DEFAULT_FUNCTION_TIMEOUT_IN_MS = 30 * 60_000;

/**
 * Reads `host.json` in the app's directory, with what the settings put over it. A key that is unknown, or that an older generation of the extension knew,
 * changes nothing, as on the real host; here it also gives a warning.
 *
 * @throws Error with one line when the file is missing, no JSON, not version 2.0, or a value has the wrong form.
 */
export async function readHostJson(
  appDirectory: string,
  settings: Settings = {},
): Promise<{ config: HostConfig; warnings: string[] }> {
  const path = join(appDirectory, 'host.json');
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new Error(
      `Cannot read ${path} (${(error as NodeJS.ErrnoException).code}). Expected the host.json of a function app.`,
    );
  }
  let root: unknown;
  try {
    root = JSON.parse(text);
  } catch (error) {
    throw new Error(`${path} is no JSON: ${(error as Error).message}.`);
  }
  return parseHostJson(withOverrides(root, settings), path);
}

/** The same for a value that is already parsed; `path` is used in messages only. */
export function parseHostJson(root: unknown, path: string): { config: HostConfig; warnings: string[] } {
  const host = new Section(root, path, '');
  const version = host.value('version');
  if (version !== '2.0') {
    throw new Error(`${path}: version must be "2.0", got ${JSON.stringify(version)}.`);
  }
  const extensions = host.section('extensions');
  const serviceBus = extensions.section('serviceBus');
  return {
    config: {
      functionTimeoutInMs:
        host.value('functionTimeout') === '-1'
          ? undefined
          : host.duration('functionTimeout', DEFAULT_FUNCTION_TIMEOUT_IN_MS),
      httpRoutePrefix: extensions.section('http').text('routePrefix', 'api'),
      logLevels: host.section('logging').section('logLevel').levels(),
      serviceBus: {
        prefetchCount: serviceBus.count('prefetchCount', 0, 0),
        autoCompleteMessages: serviceBus.flag('autoCompleteMessages', true),
        maxAutoLockRenewalDurationInMs: serviceBus.duration('maxAutoLockRenewalDuration', 5 * 60_000),
        maxConcurrentCalls: serviceBus.count('maxConcurrentCalls', 16 * availableParallelism(), 1),
        maxMessageBatchSize: serviceBus.count('maxMessageBatchSize', 1000, 1),
        minMessageBatchSize: serviceBus.count('minMessageBatchSize', 1, 1),
        maxBatchWaitTimeInMs: serviceBus.duration('maxBatchWaitTime', 30_000),
        maxConcurrentSessions: serviceBus.count('maxConcurrentSessions', 8, 1),
        maxConcurrentCallsPerSession: serviceBus.count('maxConcurrentCallsPerSession', 1, 1),
        sessionIdleTimeoutInMs: serviceBus.optionalDuration('sessionIdleTimeout'),
      },
    },
    warnings: [
      ...host.keys().flatMap((key) => warningAboutRootKey(path, key)),
      ...serviceBus.keys().flatMap((key) => warningAboutServiceBusKey(path, key)),
    ],
  };
}

/** What is not silently ignored of the root, because somebody may rely on it. */
const ROOT_HINTS: Readonly<Record<string, string>> = {
  serviceBus: 'it belongs under extensions since version 2.0',
  retry: 'retry policies belong to functions, and mean nothing to a Service Bus trigger',
};

function warningAboutRootKey(path: string, key: string): string[] {
  if (ROOT_KEYS.includes(key)) return [];
  return [`${path}: ${key} has no effect: ${ROOT_HINTS[key] ?? 'the host knows no such key'}.`];
}

function warningAboutServiceBusKey(path: string, key: string): string[] {
  if (SERVICE_BUS_KEYS.includes(key)) return [];
  const where = `${path}: extensions.serviceBus.${key} has no effect`;
  if (SERVICE_BUS_KEYS_WITHOUT_EFFECT.includes(key)) return [`${where} on this local host.`];
  const hint = OLD_SERVICE_BUS_KEYS[key];
  return [hint ? `${where}: it is of an older extension; ${hint}.` : `${where}: the extension knows no such key.`];
}

/** One object of host.json, read field by field; each problem is one line that says where, what was expected, and got. */
class Section {
  readonly #fields: Readonly<Record<string, unknown>>;
  readonly #path: string;
  readonly #prefix: string;

  constructor(value: unknown, path: string, prefix: string) {
    if (value !== undefined && (typeof value !== 'object' || value === null || Array.isArray(value))) {
      throw new Error(`${path}: ${prefix.slice(0, -1) || 'the file'} must be an object, got ${JSON.stringify(value)}.`);
    }
    this.#fields = (value ?? {}) as Record<string, unknown>;
    this.#path = path;
    this.#prefix = prefix;
  }

  keys(): string[] {
    return Object.keys(this.#fields);
  }

  value(key: string): unknown {
    return this.#fields[key];
  }

  section(key: string): Section {
    return new Section(this.value(key), this.#path, `${this.#prefix}${key}.`);
  }

  flag(key: string, byDefault: boolean): boolean {
    const value = this.value(key) ?? byDefault;
    return typeof value === 'boolean' ? value : this.#refuse(key, 'true or false');
  }

  text(key: string, byDefault: string): string {
    const value = this.value(key) ?? byDefault;
    return typeof value === 'string' ? value : this.#refuse(key, 'a string');
  }

  /** All its fields, each a name of a level. */
  levels(): LogLevels {
    return Object.fromEntries(
      this.keys().map((key) => {
        const value = this.value(key);
        const level = typeof value === 'string' ? levelOf(value) : undefined;
        return [key.toLowerCase(), level ?? this.#refuse(key, `one of ${LEVEL_NAMES.join(', ')}`)];
      }),
    );
  }

  count(key: string, byDefault: number, least: number): number {
    const value = this.value(key) ?? byDefault;
    if (typeof value === 'number' && Number.isInteger(value) && value >= least) return value;
    return this.#refuse(key, `a whole number from ${least} up`);
  }

  duration(key: string, byDefaultInMs: number): number {
    return this.value(key) === undefined ? byDefaultInMs : this.#duration(key);
  }

  /** `null`, and nothing at all, are undefined. */
  optionalDuration(key: string): number | undefined {
    const value = this.value(key);
    return value === undefined || value === null ? undefined : this.#duration(key);
  }

  #duration(key: string): number {
    const value = this.value(key);
    const inMs = typeof value === 'string' ? timeSpanInMs(value) : undefined;
    return inMs !== undefined && inMs >= 0 ? inMs : this.#refuse(key, 'a time span "hh:mm:ss"');
  }

  #refuse(key: string, expected: string): never {
    throw new Error(
      `${this.#path}: ${this.#prefix}${key} must be ${expected}, got ${JSON.stringify(this.value(key))}.`,
    );
  }
}
