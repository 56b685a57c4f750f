import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { build } from '../../local/build.ts';
import { ownChildren } from '../helpers/processes.ts';
import { aTemporaryFolder, removeFolder } from '../helpers/temporary-folder.ts';

/** Most of a small build would go to the types of the DOM. */
const COMPILER_OPTIONS = { rootDir: '.', module: 'NodeNext', types: [], lib: ['ES5'], skipLibCheck: true };

let project: string;

const source = (text: string) => writeFile(join(project, 'functions', 'app.ts'), text);
const built = () => readFile(join(project, 'dist', 'functions', 'app.js'), 'utf8');
const inProject = async () => (await readdir(project)).filter((name) => name.startsWith('dist'));

beforeEach(async () => {
  project = await aTemporaryFolder('build');
  await mkdir(join(project, 'functions'));
  await mkdir(join(project, 'dist', 'functions'), { recursive: true });
  await writeFile(join(project, 'package.json'), '{"type":"module"}');
  await writeFile(
    join(project, 'tsconfig.build.json'),
    JSON.stringify({ compilerOptions: COMPILER_OPTIONS, include: ['functions'] }),
  );
  await writeFile(join(project, 'dist', 'functions', 'app.js'), 'old');
  await writeFile(join(project, 'dist', 'functions', 'removed.js'), 'old');
  await symlink(join(import.meta.dirname, '..', '..', 'node_modules'), join(project, 'node_modules'), 'junction');
});

afterEach(() => removeFolder(project));

test('a build takes the place of the one before, with nothing left of it', async () => {
  await source('export const value: number = 7;');

  await build(project);

  expect(await built()).toBe('export const value = 7;\n');
  expect(await readdir(join(project, 'dist', 'functions'))).toEqual(['app.js']);
  expect(await inProject()).toEqual(['dist']);
});

test('what does not compile leaves the one before as it was', async () => {
  await source('export const value: number = "seven";');

  await expect(build(project)).rejects.toThrow('The build failed: see the messages of the TypeScript compiler above.');

  expect([await built(), await inProject()]).toEqual(['old', ['dist']]);
});

test('told to end it ends the compiler, and leaves the one before as it was', async () => {
  await source('export const value: number = 7;');
  const stopping = new AbortController();
  const isCompiling = () => ownChildren().some(({ command }) => command.includes(project));
  const ended = expect(build(project, stopping.signal)).rejects.toThrow('stopped');
  await vi.waitFor(() => expect(isCompiling()).toBe(true), { timeout: 15_000, interval: 10 });

  stopping.abort(new Error('stopped'));
  await ended;

  expect([isCompiling(), await built(), await inProject()]).toEqual([false, 'old', ['dist']]);
});
