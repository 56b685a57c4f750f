import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { filesOf } from './checks/sources.ts';

/** What the bundle is called; the host finds it by `main`. */
const BUNDLE = 'main.js';

/**
 * A package that our code requires by `createRequire`, because it must be the very copy that `@azure/functions` has,
 * would stay outside: made a plain `require`, it is bundled, and there is one copy again.
 */
const REQUIRED_BY_HAND: Plugin = {
  name: 'required-by-hand',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]functions[\\/]core[\\/].+\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      return { loader: 'ts', contents: text.replaceAll('createRequire(import.meta.url)(', 'require(') };
    });
  },
};

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
    plugins: [REQUIRED_BY_HAND],
  });
  await copyFile(join(project, 'host.json'), join(to, 'host.json'));
  const manifest = { name: 'servicebus-redelivery', private: true, type: 'module', main: BUNDLE };
  await writeFile(join(to, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

if (import.meta.main) {
  const project = join(import.meta.dirname, '..');
  await packageApp(project, join(project, 'dist', 'deploy'));
}
