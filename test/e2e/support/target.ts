import { inject, type TestContext } from 'vitest';

/** A Service Bus and a Table Storage that are there already, each reached by its connection string alone. */
export interface Target {
  readonly serviceBus: string;
  /** The connection string for the management API: the emulator serves it at a port of its own. */
  readonly administration: string;
  readonly storage: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    /** What the end-to-end tests run against; where it is undefined they start what they need. */
    readonly target: Target | undefined;
  }
}

/** What a test may need that only the broker of this project does. */
const FEATURES = {
  faults: 'refuses sends, goes away and comes back as a test says',
  theft: 'ends the lock of a delivery under whoever holds it',
  shortLocks: 'keeps locks below 5 s',
} as const;

/** Skips the test, by name and with the reason, where the target is one that lacks this. */
export function needs({ skip }: Pick<TestContext, 'skip'>, feature: keyof typeof FEATURES): void {
  skip(inject('target') !== undefined, `the target is none that ${FEATURES[feature]}`);
}

/** The emulator's own string, as in local.settings.json. */
const EMULATOR =
  'Endpoint=sb://localhost:5672;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;';
const MANAGEMENT_PORT_OF_EMULATOR = 5300;

/** Reads the target from variables; without them it is what `npm run emulator:up` starts. */
export function targetFrom(environment: Readonly<Record<string, string | undefined>>): Target {
  const serviceBus = environment['SERVICEBUS_CONNECTION_STRING'] ?? EMULATOR;
  return {
    serviceBus,
    administration: environment['SERVICEBUS_MANAGEMENT_CONNECTION_STRING'] ?? managementOf(serviceBus),
    storage: environment['LEDGER_STORAGE'] ?? 'UseDevelopmentStorage=true',
  };
}

/** A namespace manages itself where it is; the emulator at its other port. */
const managementOf = (serviceBus: string): string =>
  serviceBus.includes('UseDevelopmentEmulator=true')
    ? serviceBus.replace(/:\d+;/, `:${MANAGEMENT_PORT_OF_EMULATOR};`)
    : serviceBus;
