import { once } from 'node:events';
import { watch } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Changes, reloadOnChange } from '../../local/reload.ts';
import { aTemporaryFolder, removeFolder } from '../helpers/temporary-folder.ts';

const AT_MOST = { timeout: 15_000, interval: 10 };
const until = (condition: () => void) => vi.waitFor(condition, AT_MOST);

/** A compiler that the test ends. */
interface Compilation {
  succeed(): void;
  fail(message: string): void;
}

let folder: string;
let stopping: AbortController;
let reload: () => void;
let reloading: Promise<void>;
let compilations: Compilation[];
/** What has happened to compiled apps and to the host, in order. */
let done: string[];
let said: string[];
/** Thrown by starts of the host. */
let refusal: Error | undefined;

const save = (file = 'app.ts') => writeFile(join(folder, file), 'saved');

/** Saves, and waits until watchers hear of it: this one has come last. */
async function saveAndSee(): Promise<void> {
  const watcher = watch(folder);
  const heard = once(watcher, 'change');
  await save();
  await heard;
  watcher.close();
}

async function compile(signal: AbortSignal) {
  const number = compilations.length + 1;
  const compiler = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => compiler.reject(signal.reason));
  compilations.push({ succeed: compiler.resolve, fail: (message) => compiler.reject(new Error(message)) });
  await compiler.promise;
  return {
    install: async () => void done.push(`install ${number}`),
    discard: async () => void done.push(`discard ${number}`),
  };
}

async function restartHost(exchange?: () => Promise<void>) {
  done.push('stop');
  await exchange?.();
  if (refusal) throw refusal;
  done.push('start');
}

async function compilation(number: number): Promise<Compilation> {
  await until(() => expect(compilations).toHaveLength(number));
  return compilations[number - 1] as Compilation;
}

beforeEach(async () => {
  folder = await aTemporaryFolder('reload');
  [compilations, done, said, refusal] = [[], [], [], undefined];
  stopping = new AbortController();
  const say = (line: string) => said.push(line);
  const changes = new Changes(folder, say);
  reload = () => {
    reloading = reloadOnChange({ changes, compile, stack: { restartHost }, say }, stopping.signal);
  };
});

afterEach(async () => {
  stopping.abort();
  await reloading;
  await removeFolder(folder);
});

test('a change before all has started is built once it has', async () => {
  await saveAndSee();
  reload();
  (await compilation(1)).succeed();
  await until(() => expect(said).toEqual(['rebuilt and restarted']));
});

test('after a change the app is compiled, and exchanged while no host runs', async () => {
  reload();
  await save();
  (await compilation(1)).succeed();
  await until(() => expect(said).toEqual(['rebuilt and restarted']));

  expect(done).toEqual(['stop', 'install 1', 'start', 'discard 1']);
});

test('many changes in a row are one, and one amid a build makes that build stale', async () => {
  reload();
  for (let n = 0; n < 20; n += 1) await save(`${n}.ts`);
  const stale = await compilation(1);
  await saveAndSee();
  stale.succeed();
  (await compilation(2)).succeed();
  await until(() => expect(said).toEqual(['rebuilt and restarted']));

  expect(done).toEqual(['discard 1', 'stop', 'install 2', 'start', 'discard 2']);
  expect(compilations).toHaveLength(2);
});

test('what does not compile touches nothing, and what does is taken next', async () => {
  reload();
  await save();
  (await compilation(1)).fail('It does not compile.');
  await until(() => expect(said).toEqual(['not restarted, the app runs on as it was. It does not compile.']));
  expect(done).toEqual([]);

  await save();
  (await compilation(2)).succeed();
  await until(() => expect(said).toHaveLength(2));

  expect(said[1]).toBe('rebuilt and restarted');
});

test('an app that the host refuses waits for the next change', async () => {
  reload();
  refusal = new Error('attempts: expected at least 1');
  await save();
  (await compilation(1)).succeed();
  await until(() =>
    expect(said).toEqual(['stopped, nothing runs until the next change. attempts: expected at least 1']),
  );
  refusal = undefined;
  await save();
  (await compilation(2)).succeed();
  await until(() => expect(said).toHaveLength(2));

  expect(done.slice(-4)).toEqual(['stop', 'install 2', 'start', 'discard 2']);
});

test('told to end amid a build it ends without a word', async () => {
  reload();
  await save();
  await compilation(1);

  stopping.abort();
  await reloading;

  expect([said, done]).toEqual([[], []]);
});
