import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BICEP_VERSION, findCompiler } from '../../infra/checks/compiler.ts';
import { aTemporaryFolder, removeFolder } from '../helpers/temporary-folder.ts';

let folder: string;
beforeEach(async () => {
  folder = await aTemporaryFolder('bicep');
});
afterEach(() => removeFolder(folder));

/** Puts a program in place that says it is Bicep of this version. */
async function installed(place: string, version: string): Promise<string> {
  await mkdir(join(folder, place), { recursive: true });
  const path = join(folder, place, 'bicep');
  await writeFile(path, `#!/bin/sh\necho "Bicep CLI version ${version} (abc)"\n`);
  await chmod(path, 0o755);
  return path;
}

const find = (environment: Record<string, string>) =>
  findCompiler({ PATH: join(folder, 'bin'), HOME: folder, ...environment }, join(folder, '.bicep'));

describe.skipIf(process.platform === 'win32')('the Bicep CLI', () => {
  it('is the one that BICEP names, whatever its version', async () => {
    const path = await installed('own', '0.99.0');
    expect(await find({ BICEP: path })).toEqual({ kind: 'found', path, version: '0.99.0', from: 'BICEP' });
  });

  it('is the one on PATH, before the one that az has', async () => {
    await installed('.azure/bin', BICEP_VERSION);
    const path = await installed('bin', BICEP_VERSION);
    expect(await find({})).toEqual({ kind: 'found', path, version: BICEP_VERSION, from: 'PATH' });
  });

  it('is the one that az has where the one on PATH is of another version', async () => {
    await installed('bin', '0.30.3');
    const path = await installed('.azure/bin', BICEP_VERSION);
    expect(await find({})).toEqual({ kind: 'found', path, version: BICEP_VERSION, from: 'az bicep' });
  });

  it('is absent where nothing is, with all that was tried', async () => {
    await installed('bin', '0.30.3');
    expect(await find({})).toEqual({
      kind: 'absent',
      tried: [
        'BICEP is not set',
        `PATH has 0.30.3, not ${BICEP_VERSION}`,
        'az bicep has none',
        'no .NET SDK to restore it with',
      ],
    });
  });

  it('is absent where restoring fails, and says why', async () => {
    await mkdir(join(folder, 'bin'));
    await writeFile(join(folder, 'bin', 'dotnet'), '#!/bin/sh\necho "error NU1301: no such host"\nexit 1\n');
    await chmod(join(folder, 'bin', 'dotnet'), 0o755);
    const compiler = await find({});
    expect(compiler.kind === 'absent' && compiler.tried.at(-1)).toMatch(
      /^restoring .+ failed: error NU1301: no such host$/,
    );
  });
});
