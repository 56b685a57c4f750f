import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const project = join(import.meta.dirname, '..', '..', '..');
const page = readFileSync(join(project, 'docs', 'real-azure.md'), 'utf8');

/** Rows of the table of beliefs: a mark, the belief, and the steps that check it. */
const rows = [...page.matchAll(/^\| ([A-Z]\d+) \| .+ \| ([\d, ]+) \|$/gm)].map(([, mark = '', steps = '']) => ({
  mark,
  steps,
}));
const beliefs = rows.map(({ mark }) => mark);

/** Marks in brackets at the end of the names of tests. */
const files = globSync('test/local/host/*.test.ts', { cwd: project });
const held = new Set(
  files.flatMap((file) =>
    [...readFileSync(join(project, file), 'utf8').matchAll(/\[((?:[A-Z]\d+(?:, )?)+)\](?:'|:)/g)].flatMap(
      ([, marks = '']) => marks.split(', '),
    ),
  ),
);

describe('the beliefs about the real host', () => {
  test('are each held by a test that names it, and no test names another', () => {
    expect(files.length).toBeGreaterThan(10);
    expect(beliefs.length).toBeGreaterThan(25);
    expect([...held].sort()).toEqual([...beliefs].sort());
  });

  test('are each checked by a step that is there', () => {
    const steps = new Set([...page.matchAll(/^(\d+)\. /gm)].map(([, step]) => step));

    const missing = rows.flatMap(({ mark, steps: named }) =>
      named
        .split(', ')
        .filter((step) => !steps.has(step))
        .map((step) => `${mark}: ${step}`),
    );

    expect(missing).toEqual([]);
  });
});
