import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DEFAULT_POLICY, type RetryPolicy } from '../../functions/core/rules/policy.ts';
import type { PolicyOfQueue } from './entity-rules.ts';
import { filesOf } from './sources.ts';

/** The policy of each queue that a function consumes, as its trigger file names them. */
export async function policiesByQueue(project: string): Promise<Record<string, PolicyOfQueue>> {
  const policies: Record<string, PolicyOfQueue> = {};
  for (const file of filesOf(project, ['functions/*.ts'])) {
    const text = readFileSync(join(project, file), 'utf8');
    const queue = /\bqueue: '([^'%]+)'/.exec(text)?.[1];
    const policyFile = /from '(\.\/events\/[^']+\/policy\.ts)'/.exec(text)?.[1];
    if (!queue || !policyFile) continue;
    const own = await policyIn(join(project, 'functions', policyFile));
    policies[queue] = { event: basename(file, '.ts'), ...DEFAULT_POLICY, ...own };
  }
  return policies;
}

/** A policy's file exports one object. */
async function policyIn(path: string): Promise<Partial<RetryPolicy>> {
  const exports: Record<string, unknown> = await import(pathToFileURL(path).href);
  return (Object.values(exports).find((value) => typeof value === 'object') ?? {}) as Partial<RetryPolicy>;
}
