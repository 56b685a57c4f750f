import { findNodeAtLocation, getNodeValue, type Node } from 'jsonc-parser';
import type { z } from 'zod';

/** One thing that is wrong in an entity file. `line` counts from 1. */
export type Problem = {
  readonly line: number;
  readonly path: string;
  readonly expected: string;
  readonly got: string;
};

/** Everything that is wrong in an entity file, one line each. */
export class EntitiesError extends Error {
  override readonly name = 'EntitiesError';
  readonly problems: readonly Problem[];

  constructor(file: string, problems: readonly Problem[]) {
    const lines = problems.map(({ line, path, expected, got }) => {
      return `${file}:${line}: ${path}: expected ${expected}, got ${got}`;
    });
    super(lines.join('\n'));
    this.problems = problems;
  }
}

/** A checker's issues as problems, each with the line of the value it is about. */
export function problemsOf(issues: readonly z.core.$ZodIssue[], text: string, root: Node | undefined): Problem[] {
  return issues
    .flatMap((issue) => {
      const path = issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part));
      switch (issue.code) {
        case 'unrecognized_keys':
          return issue.keys.map((key) => problemAt([...path, key], 'no property of that name', text, root));
        case 'invalid_type':
          return [problemAt(path, issue.expected === 'array' ? 'a list' : 'an object', text, root)];
        default:
          return [problemAt(path, issue.message, text, root)];
      }
    })
    .sort((a, b) => a.line - b.line);
}

function problemAt(path: (string | number)[], expected: string, text: string, root: Node | undefined): Problem {
  const node = root === undefined ? undefined : findNodeAtLocation(root, path);
  const got = node === undefined ? 'nothing' : shortened(JSON.stringify(getNodeValue(node)));
  return { line: lineAt(text, (node ?? nearest(path, root))?.offset ?? 0), path: pathText(path), expected, got };
}

/** The closest thing around a value that is missing. */
function nearest(path: (string | number)[], root: Node | undefined): Node | undefined {
  for (let length = path.length; root !== undefined && length >= 0; length--) {
    const node = findNodeAtLocation(root, path.slice(0, length));
    if (node !== undefined) return node;
  }
  return root;
}

/** The line of a byte offset, counted from 1. */
export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

function pathText(path: readonly (string | number)[]): string {
  return path.map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`)).join('');
}

function shortened(text: string): string {
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
