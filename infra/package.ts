import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { filesOf } from './checks/sources.ts';

/** What the bundle is called; the host finds it by `main`. */
const BUNDLE = 'main.js';

/**
 * Two things that our own code says in the sources and must still say in the bundle. A package that it requires by
 * `createRequire`, because it must be the very copy that `@azure/functions` has, would stay outside: made a plain
 * `require`, it is bundled, and there is one copy again. And a class that has its name twice in the bundle, or that names
 * itself, would get another, by which no rule of a policy knows it.
 */
const AS_IN_THE_SOURCES: Plugin = {
  name: 'as-in-the-sources',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]functions[\\/].+\.ts$/ }, async ({ path }) => {
      if (path.includes('node_modules')) return undefined;
      const text = await readFile(path, 'utf8');
      const required = text.replaceAll('createRequire(import.meta.url)(', 'require(');
      return { loader: 'ts', contents: `${required}\n${namesOfClasses(text)}` };
    });
  },
};

/** Gives the classes at the top of a file their own names, once they are declared. */
const namesOfClasses = (source: string): string =>
  [...source.matchAll(/^(?:export )?(?:abstract )?class (\w+)/gm)]
    .map(([, name]) => `Object.defineProperty(${name}, 'name', { value: '${name}' });`)
    .join('\n');

/**
 * Makes the folder that is deployed: `host.json`, a `package.json` without dependencies, one bundle of all that is in
 * `functions/`, and its map. Nothing is left to install or build where it runs, and it starts in less time.
 */
export async function packageApp(project: string, to: string): Promise<void> {
  const triggers = filesOf(project, ['functions/*.ts']);
  await rm(to, { recursive: true, force: true });
  await mkdir(to, { recursive: true });
  await build({
    stdin: {
      contents: triggers.map((file) => `import './${file}';`).join('\n'),
      resolveDir: project,
      sourcefile: 'triggers.ts',
    },
    absWorkingDir: project,
    outfile: join(to, BUNDLE),
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    // The worker's own, which it gives to whoever requires it.
    external: ['@azure/functions-core'],
    // Many of the packages inside are CommonJS and require what Node has.
    banner: {
      js: "import { createRequire as createRequireOfBundle } from 'node:module'; const require = createRequireOfBundle(import.meta.url);",
    },
    // Of a package in both forms the one from which what is not used can be left out. What only telemetry needs is in the
    // bundle too, and evaluated where a setting asks for it; read it is at every start, so its size counts.
    mainFields: ['module', 'main'],
    // Names in stack traces stay those of the sources, but for a digit where two files have the same; `keepNames` would
    // take that off again, by a call for each function that is made. The map holds no text of the sources.
    minifyWhitespace: true,
    minifySyntax: true,
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'warning',
    plugins: [AS_IN_THE_SOURCES],
  });
  await copyFile(join(project, 'host.json'), join(to, 'host.json'));
  const manifest = { name: 'servicebus-redelivery', private: true, type: 'module', main: BUNDLE };
  await writeFile(join(to, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

if (import.meta.main) {
  const project = join(import.meta.dirname, '..');
  await packageApp(project, join(project, 'dist', 'deploy'));
}
