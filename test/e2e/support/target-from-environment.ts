import type { TestProject } from 'vitest/node';
import { targetFrom } from './target.ts';

/** Has the tests run against what the variables name, for `npm run test:emulator`. */
export function setup({ provide }: TestProject): void {
  provide('target', targetFrom(process.env));
}
