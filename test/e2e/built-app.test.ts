import { globSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { removeFolder } from '../helpers/temporary-folder.ts';
import { anApp } from './support/an-app.ts';
import { project } from './support/project.ts';
import { aStage } from './support/stage.ts';

const sourcesIn = (folder: string): string[] =>
  readdirSync(join(project, folder), { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map(({ name }) => basename(name, '.ts'));

describe('what the host loads', () => {
  test.each(sourcesIn('functions'))(
    'functions/%s.ts registers a function by its own name, as a setting may hold it',
    async (name) => {
      const app = await anApp({
        'package.json': (manifest) => {
          manifest['main'] = `dist/functions/${name}.js`;
        },
      });
      onTestFinished(() => removeFolder(app));
      const stage = await aStage(app);
      onTestFinished(() => stage.stop());

      const { functions } = await stage.startHost();

      expect(functions).toEqual([name.replaceAll('-', '_')]);
    },
  );
});

describe('what is deployed', () => {
  const IMPORT = /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)['"]([^'"]+)['"]/g;
  let dist: string;
  let files: string[];

  beforeAll(() => {
    dist = join(inject('builtApp'), 'dist');
    files = globSync('functions/**/*.js', { cwd: dist });
  });

  test('is every source, compiled', () => {
    const sources = globSync('functions/**/*.ts', { cwd: project });

    expect(files.sort()).toEqual(sources.map((source) => source.replace(/\.ts$/, '.js')).sort());
    expect(files.length).toBeGreaterThan(40);
  });

  test('imports nothing that is not deployed', () => {
    const deployed = join(dist, 'functions') + sep;
    const strangers = files.flatMap((file) =>
      [...readFileSync(join(dist, file), 'utf8').matchAll(IMPORT)]
        .map(([, specifier = '']) => specifier)
        .filter((specifier) => specifier.startsWith('.') || specifier.startsWith('/'))
        .filter((specifier) => !resolve(join(dist, dirname(file)), specifier).startsWith(deployed))
        .map((specifier) => `${file} imports ${specifier}`),
    );

    expect(strangers).toEqual([]);
  });

  test('needs no package that only development has', () => {
    const { dependencies } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
    const packages = files.flatMap((file) =>
      [...readFileSync(join(dist, file), 'utf8').matchAll(IMPORT)]
        .map(([, specifier = '']) => specifier)
        .filter((specifier) => !/^(\.|\/|node:)/.test(specifier))
        .map((specifier) => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')),
    );

    expect([...new Set(packages)].filter((name) => !(name in dependencies) && !BROUGHT_BY_THE_HOST.has(name))).toEqual(
      [],
    );
  });
});

/** What the Functions worker provides to the app. */
const BROUGHT_BY_THE_HOST: ReadonlySet<string> = new Set(['@azure/functions-core']);
