import { spawnSync } from 'node:child_process';
import { cp, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { packageApp } from '../../infra/package.ts';
import { anOrder, FAST_POLICY } from '../e2e/support/orders.ts';
import { aStage } from '../e2e/support/stage.ts';
import { aTemporaryFolder, removeFolder } from '../helpers/temporary-folder.ts';
import { project } from './support/built.ts';

const LIMIT_IN_BYTES = 10 * 1024 * 1024;
const SLOW = 120_000;

let folder: string;
beforeAll(async () => {
  folder = await aTemporaryFolder('deploy');
  await packageApp(project, folder);
}, SLOW);
afterAll(() => removeFolder(folder));

it('the package is four files, below 10 MB, without a dependency or a setting', async () => {
  const files = (await readdir(folder)).sort();
  expect(files).toEqual(['host.json', 'main.js', 'main.js.map', 'package.json']);
  const sizes = await Promise.all(files.map(async (file) => (await stat(join(folder, file))).size));
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(LIMIT_IN_BYTES);
  expect(JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))).toEqual({
    name: 'servicebus-redelivery',
    private: true,
    type: 'module',
    main: 'main.js',
  });
  expect(await readFile(join(folder, 'host.json'), 'utf8')).toBe(await readFile(join(project, 'host.json'), 'utf8'));
});

it('a class keeps the name by which a rule of a policy knows it', { timeout: SLOW }, async () => {
  const own = await aTemporaryFolder('own-classes');
  onTestFinished(() => removeFolder(own));
  await mkdir(join(own, 'functions'));
  await writeFile(join(own, 'host.json'), '{}');
  const refused = 'export class Refused extends Error { static of() { return new Refused(); } }';
  for (const file of ['one.ts', 'two.ts']) {
    await writeFile(
      join(own, 'functions', file),
      `${refused}\nqueueMicrotask(() => console.log(Refused.of().constructor.name));\n`,
    );
  }
  await packageApp(own, join(own, 'out'));
  const { stdout } = spawnSync(process.execPath, [join(own, 'out', 'main.js')], { encoding: 'utf8' });
  expect(stdout).toBe('Refused\nRefused\n');
});

it('no code of telemetry runs at its start, where no setting asks for any', () => {
  const script = join(import.meta.dirname, 'support/evaluated.ts');
  const { stdout, stderr } = spawnSync(process.execPath, [script, join(folder, 'main.js')], { encoding: 'utf8' });
  expect(stderr).toBe('');
  const evaluated: string[] = JSON.parse(stdout);
  expect(evaluated).toContain('@azure/service-bus');
  expect(evaluated.filter((name) => /opentelemetry/.test(name))).toEqual([]);
});

it('the package redelivers, succeeds and dead-letters with node_modules out of reach', { timeout: SLOW }, async () => {
  const app = await aTemporaryFolder('deployed');
  onTestFinished(() => removeFolder(app));
  await cp(folder, app, { recursive: true });
  // What the stand-ins are told by; the app reads neither.
  for (const file of ['local/entities.json', 'local.settings.json']) {
    await mkdir(dirname(join(app, file)), { recursive: true });
    await cp(join(project, file), join(app, file));
  }
  const stage = await aStage(app, FAST_POLICY);
  onTestFinished(() => stage.stop());

  await stage.startHost();
  await stage.send(
    anOrder('recovers', [503, 200]),
    { ...anOrder('permanent'), body: { orderId: 'order-permanent', amount: 25, currency: 'XXX' } },
    anOrder('exhausted', [503]),
  );
  await stage.until('recovers', 'succeeded');
  await stage.until('permanent', 'dead-lettered');
  await stage.until('exhausted', 'dead-lettered');

  expect(stage.outcomes('recovers')).toEqual(['redelivered', 'succeeded']);
  expect((await stage.deadLetters()).map(({ reason }) => reason).sort()).toEqual([
    'AttemptsExhausted',
    'UnsupportedCurrency',
  ]);
});
