import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** The version that built what is committed; the one to restore where none is installed. */
export const BICEP_VERSION = '0.49.2';

/** Where the Bicep CLI is, or why it cannot be called. */
export type Compiler =
  | { readonly kind: 'found'; readonly path: string; readonly version: string; readonly from: string }
  | { readonly kind: 'absent'; readonly tried: readonly string[] };

export interface Run {
  readonly exitCode: number;
  readonly output: string;
}

const EXECUTABLE = process.platform === 'win32' ? 'bicep.exe' : 'bicep';
const RESTORE_LIMIT_IN_MS = 180_000;
const RUN_LIMIT_IN_MS = 120_000;

/**
 * Finds the Bicep CLI: the variable `BICEP` (a path, or `none` for "do without"), PATH, what `az bicep` has installed;
 * else restores its NuGet package with the .NET SDK into a folder that git ignores. What was installed for another
 * purpose counts only in the version that built what is committed: another one formats, warns and compiles differently.
 *
 * @param mayDownload whether a package that has not been restored before may be
 */
export async function findCompiler(
  environment: NodeJS.ProcessEnv,
  folder: string,
  { mayDownload = true }: { mayDownload?: boolean } = {},
): Promise<Compiler> {
  const named = environment['BICEP'];
  if (named === 'none') return { kind: 'absent', tried: ['BICEP is "none"'] };
  if (named) return found(named, 'BICEP') ?? { kind: 'absent', tried: [`BICEP is ${named}, which does not run`] };
  const tried = ['BICEP is not set'];
  const home =
    environment['AZURE_CONFIG_DIR'] ?? join(environment['HOME'] ?? environment['USERPROFILE'] ?? '', '.azure');
  const installed = [
    { from: 'PATH', path: onThePath('bicep', environment) },
    { from: 'az bicep', path: join(home, 'bin', EXECUTABLE) },
  ];
  for (const { from, path } of installed) {
    const compiler = path && existsSync(path) ? found(path, from) : undefined;
    if (compiler?.version === BICEP_VERSION) return compiler;
    tried.push(compiler ? `${from} has ${compiler.version}, not ${BICEP_VERSION}` : `${from} has none`);
  }
  const restored = await restore(environment, folder, mayDownload);
  return restored.kind === 'found' ? restored : { kind: 'absent', tried: [...tried, ...restored.tried] };
}

/** Runs the CLI in a folder; its warnings are in the output, whatever the exit code. */
export function runBicep(
  compiler: Extract<Compiler, { kind: 'found' }>,
  commandLine: readonly string[],
  cwd: string,
): Run {
  return run([compiler.path, ...commandLine], RUN_LIMIT_IN_MS, cwd);
}

function found(path: string, from: string): Extract<Compiler, { kind: 'found' }> | undefined {
  const { exitCode, output } = run([path, '--version'], RUN_LIMIT_IN_MS);
  const version = /version (\d+\.\d+\.\d+)/.exec(output)?.[1];
  return exitCode === 0 && version ? { kind: 'found', path, version, from } : undefined;
}

function onThePath(name: string, environment: NodeJS.ProcessEnv): string | undefined {
  const names = process.platform === 'win32' ? [`${name}.exe`] : [name];
  return (environment['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .flatMap((folder) => names.map((file) => join(folder, file)))
    .find(existsSync);
}

async function restore(environment: NodeJS.ProcessEnv, folder: string, mayDownload: boolean): Promise<Compiler> {
  const system = { linux: 'linux', darwin: 'osx', win32: 'win' }[process.platform as string];
  const packageId = `Azure.Bicep.CommandLine.${system}-${process.arch}`;
  const tools = join(folder, packageId.toLowerCase(), BICEP_VERSION, 'tools');
  const executable = join(tools, EXECUTABLE);
  if (!existsSync(executable)) {
    if (!mayDownload) return { kind: 'absent', tried: ['not restored before'] };
    const dotnet = onThePath('dotnet', environment);
    if (!system || !dotnet) return { kind: 'absent', tried: ['no .NET SDK to restore it with'] };
    await mkdir(folder, { recursive: true });
    const project = join(folder, 'bicep.csproj');
    await writeFile(project, projectFor(packageId));
    const { exitCode, output } = run([dotnet, 'restore', project, '--packages', folder], RESTORE_LIMIT_IN_MS, folder);
    if (exitCode !== 0 || !existsSync(executable)) {
      return { kind: 'absent', tried: [`restoring ${packageId} failed: ${lastLine(output)}`] };
    }
  }
  return found(executable, 'NuGet') ?? { kind: 'absent', tried: [`${packageId} does not run here`] };
}

/** Downloads one package and depends on nothing, the framework's own packages included. */
const projectFor = (packageId: string): string => `<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <TargetFramework>netstandard2.0</TargetFramework>
    <DisableImplicitFrameworkReferences>true</DisableImplicitFrameworkReferences>
  </PropertyGroup>
  <ItemGroup>
    <PackageDownload Include="${packageId}" Version="[${BICEP_VERSION}]" />
  </ItemGroup>
</Project>
`;

function run([file = '', ...rest]: readonly string[], timeout: number, cwd?: string): Run {
  const { status, stdout, stderr, error } = spawnSync(file, rest, {
    encoding: 'utf8',
    timeout,
    maxBuffer: 64 * 1024 * 1024,
    ...(cwd ? { cwd } : {}),
  });
  return { exitCode: status ?? 1, output: `${stdout ?? ''}${stderr ?? ''}${error ? String(error) : ''}` };
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? '';
