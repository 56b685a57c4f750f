import { globSync } from 'node:fs';
import { join } from 'node:path';
import { cruise, type ICruiseResult, type IForbiddenRuleType } from 'dependency-cruiser';
import { beforeAll, describe, expect, it } from 'vitest';

const project = join(import.meta.dirname, '..');
const DEPLOYED = '^functions/';

/** Layers of the app, each with the only modules it may import besides its own. */
const LAYERS: readonly {
  readonly name: string;
  readonly from: string;
  readonly mayImport: readonly string[];
  readonly andNode?: boolean;
}[] = [
  { name: 'rules import rules', from: '^functions/core/rules/(?!hash\\.ts)', mayImport: ['^functions/core/rules/'] },
  { name: 'hash.ts adds node:crypto', from: '^functions/core/rules/hash\\.ts', mayImport: ['^crypto$'] },
  {
    name: 'the pipeline imports rules',
    from: '^functions/core/pipeline/',
    mayImport: ['^functions/core/(rules|pipeline)/'],
  },
  {
    name: 'adapters implement the ports',
    from: '^functions/core/adapters/',
    mayImport: ['^functions/core/(rules|adapters)/', '^functions/core/pipeline/ports\\.ts', '^node_modules/'],
    andNode: true,
  },
  {
    name: 'events see core/rules and zod',
    from: '^functions/events/',
    mayImport: ['^functions/(core/rules|events)/', '^node_modules/zod/'],
  },
  {
    name: 'a trigger sees its event and the consumer',
    from: '^functions/[^/]+\\.ts',
    mayImport: ['^functions/core/consumer\\.ts', '^functions/events/'],
  },
];

const FORBIDDEN: IForbiddenRuleType[] = [
  ...LAYERS.map(
    ({ name, from, mayImport, andNode }): IForbiddenRuleType => ({
      name,
      severity: 'error',
      from: { path: from },
      to: { pathNot: [...mayImport], ...(andNode ? { dependencyTypesNot: ['core'] } : {}) },
    }),
  ),
  {
    name: 'only the composition root imports adapters',
    severity: 'error',
    from: { path: DEPLOYED, pathNot: ['^functions/core/adapters/', '^functions/core/(consumer|application)\\.ts'] },
    to: { path: '^functions/core/adapters/' },
  },
  {
    name: 'nothing deployed imports what stands in for Azure, tools or tests',
    severity: 'error',
    from: { path: '^(functions|cli)/' },
    to: { path: '^(local|test|bench|dist)/' },
  },
  { name: 'no cycles', severity: 'error', from: {}, to: { circular: true } },
];

async function look(forbidden: IForbiddenRuleType[], folders: readonly string[]): Promise<ICruiseResult> {
  const { output } = await cruise([...folders], {
    baseDir: project,
    ruleSet: { forbidden },
    validate: true,
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  });
  return output as ICruiseResult;
}

const violationsOf = ({ summary }: ICruiseResult): string[] =>
  summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`);

describe('the architecture', () => {
  let result: ICruiseResult;
  beforeAll(async () => {
    const folders = ['functions', 'local', 'cli'].filter(
      (folder) => globSync(`${folder}/**/*.ts`, { cwd: project }).length > 0,
    );
    result = await look(FORBIDDEN, folders);
  });

  it('has no import that its layers forbid, and no cycle', () => {
    expect(violationsOf(result)).toEqual([]);
  });

  it('was looked at in every source file', () => {
    const sources = globSync('{functions,local,cli}/**/*.ts', { cwd: project });
    const seen = new Set(result.modules.map(({ source }) => source));
    expect(sources.filter((source) => !seen.has(source))).toEqual([]);
    expect(sources.length).toBeGreaterThan(100);
  });

  it('finds an import where one is forbidden', async () => {
    const rule: IForbiddenRuleType = {
      name: 'the trigger may not import the consumer',
      severity: 'error',
      from: { path: '^functions/order-placed\\.ts' },
      to: { path: '^functions/core/consumer\\.ts' },
    };
    expect(violationsOf(await look([rule], ['functions/order-placed.ts']))).toEqual([
      'the trigger may not import the consumer: functions/order-placed.ts -> functions/core/consumer.ts',
    ]);
  });
});
