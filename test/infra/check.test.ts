import { spawnSync } from 'node:child_process';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { causesOf } from '../../infra/checks/rebuild.ts';
import { aTemporaryFolder, removeFolder } from '../helpers/temporary-folder.ts';
import { project } from './support/built.ts';

const NEEDED = [
  'package.json',
  'bicepconfig.json',
  'functions',
  'infra',
  'local/entities.json',
  'local/broker/config/duration.ts',
];

let copy: string;
beforeEach(async () => {
  copy = await aTemporaryFolder('infra-check');
  const filter = (from: string) => basename(from) !== '.bicep';
  for (const name of NEEDED) await cp(join(project, name), join(copy, name), { recursive: true, filter });
});
afterEach(() => removeFolder(copy));

/** The check on the copy, on a machine without a compiler. */
function check(...options: string[]): { exitCode: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['infra/check.ts', ...options], {
    cwd: copy,
    encoding: 'utf8',
    env: { ...process.env, BICEP: 'none' },
  });
  return { exitCode: status, output: stdout + stderr };
}

async function change(file: string, from: string, to: string): Promise<void> {
  const path = join(copy, file);
  const text = await readFile(path, 'utf8');
  expect(text).toContain(from);
  await writeFile(path, text.replace(from, to));
}

describe('without the compiler, the check', () => {
  it('passes what is committed, and says plainly what it could not do', () => {
    expect(check()).toEqual({
      exitCode: 0,
      output:
        'infra: THE COMPILER WAS NOT THERE (BICEP is "none"): nothing was compiled, only hashes were compared.\n' +
        'infra: what is committed belongs to its sources\n',
    });
  });

  it('reads the same whatever the line ends', async () => {
    const path = join(copy, 'infra/modules/storage.bicep');
    await writeFile(path, (await readFile(path, 'utf8')).replaceAll('\n', '\r\n'));
    expect(check().exitCode).toBe(0);
  });

  it('refuses sources that have changed since', async () => {
    await change('infra/queries/silence.kql', 'Deliveries', 'Seen');
    const { exitCode, output } = check();
    expect(exitCode).toBe(1);
    expect(output).toContain('the sources have changed since infra/built.json was written; run "npm run infra:build"');
  });

  it('refuses a template that has been changed by hand', async () => {
    await change('infra/main.json', '"disableLocalAuth": true', '"disableLocalAuth": false');
    const { exitCode, output } = check();
    expect(exitCode).toBe(1);
    expect(output).toContain('main.json or a snapshot has been changed by hand');
  });

  it('still refuses entities that would lose messages, with a clear line', async () => {
    await change('local/entities.json', '"LockDuration": "PT1M"', '"LockDuration": "PT10M"');
    const { exitCode, output } = check();
    expect(exitCode).toBe(1);
    expect(output).toContain('infra: queue billing-order-placed: LockDuration PT10M must be 5 seconds to 5 minutes\n');
  });

  it('does not pretend to write', () => {
    const { exitCode, output } = check('--write');
    expect(exitCode).toBe(1);
    expect(output).toContain('--write needs the compiler');
  });

  it('names a BICEP that does not run', () => {
    const { status, stdout } = spawnSync(process.execPath, ['infra/check.ts'], {
      cwd: copy,
      encoding: 'utf8',
      env: { ...process.env, BICEP: join(copy, 'no-such-file') },
    });
    expect(status).toBe(0);
    expect(stdout).toContain('no-such-file, which does not run');
  });
});

describe('what the compiler complains of', () => {
  const cause =
    'infra/modules/identity.bicep(48,7) : Error no-unused-params: Parameter "unused" is declared but never used.';
  const consequences = [
    'infra/main.bicep(102,17) : Error BCP104: The referenced module has errors.',
    'Failed to generate snapshot for file infra/dev.bicepparam',
  ];

  it('is told once, without what follows from it', () => {
    expect(causesOf([...consequences, cause, cause])).toEqual([cause]);
  });

  it('is told in full where no cause is to be seen', () => {
    expect(causesOf(consequences)).toEqual(consequences);
  });
});
