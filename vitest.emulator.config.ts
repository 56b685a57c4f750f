import { defineConfig } from 'vitest/config';

/** They start a broker of their own, from `npm start`, for a bare host or to break it: an address is no use to them. */
const WITH_A_BROKER_OF_THEIR_OWN = [
  'bare-clone',
  'by-address',
  'committed-settings',
  'dev',
  'readme',
  'refusing-to-start',
  'start-command',
  'stopping',
  'stories/raw-functions',
];

/**
 * The end-to-end tests against a Service Bus and a Table Storage that are there already: the emulator and Azurite of
 * `npm run emulator:up`, or what SERVICEBUS_CONNECTION_STRING and LEDGER_STORAGE name.
 */
export default defineConfig({
  test: {
    include: ['test/e2e/**/*.test.ts'],
    exclude: WITH_A_BROKER_OF_THEIR_OWN.map((name) => `test/e2e/${name}.test.ts`),
    globalSetup: ['test/e2e/support/global-setup.ts', 'test/e2e/support/target-from-environment.ts'],
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // They share one namespace, and several its one queue of the example event.
    fileParallelism: false,
    // Says each skipped test by name, with what the target lacks.
    reporters: ['verbose'],
  },
});
