import { defineConfig } from 'vitest/config';

const limits = { testTimeout: 20_000, hookTimeout: 60_000 };
const endToEnd = ['test/e2e/**/*.test.ts'];

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: endToEnd,
          ...limits,
          // Vitest would leave a core idle, and the tests of sockets and child processes wait half of their time.
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'e2e',
          include: endToEnd,
          globalSetup: 'test/e2e/support/global-setup.ts',
          testTimeout: 120_000,
          hookTimeout: 120_000,
          // They wait more than they work; after the rest, so that nothing else is slowed down by them.
          maxWorkers: 6,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
