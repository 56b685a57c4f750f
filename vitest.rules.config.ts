import { defineConfig } from 'vitest/config';

/** The pure rules alone: what mutation testing runs, and what branch coverage is demanded of. */
export default defineConfig({
  test: {
    include: ['test/core/rules/**/*.test.ts'],
    testTimeout: 20_000,
    // Pure functions leave nothing behind, and a worker for each file would cost a mutant more than its tests.
    isolate: false,
    coverage: {
      provider: 'v8',
      include: ['functions/core/rules/**/*.ts'],
      thresholds: { branches: 100 },
      reporter: ['text'],
    },
  },
});
