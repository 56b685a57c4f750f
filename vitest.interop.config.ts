import { defineConfig } from 'vitest/config';

/** Clients in other languages than ours: they have to be built first, which is too slow for every `npm test`. */
export default defineConfig({
  test: { include: ['test/interop/**/*.interop.ts'], testTimeout: 180_000, hookTimeout: 600_000 },
});
