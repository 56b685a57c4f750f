import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { STAGES } from '../../infra/checks/sources.ts';
import { project, readText, snapshots, theOnly } from './support/built.ts';

// Neither Docker, nor azd, nor GitHub runs these here: what is held is their shape, and that they name what there is.

const { scripts } = JSON.parse(readText('package.json'));
const localSettings = JSON.parse(readText('local.settings.json')).Values;

describe('local/compose.yaml', () => {
  const { services } = parse(readText('local/compose.yaml'));

  it('has the emulator, its database, Azurite, and a dashboard for whoever asks', () => {
    expect(Object.keys(services)).toEqual(['servicebus', 'sql', 'azurite', 'dashboard']);
    expect(services.dashboard.profiles).toEqual(['dashboard']);
    // From 2.0 on it can make queues, which the end-to-end tests have it do.
    expect(services.servicebus.image).toMatch(/\/azure-messaging\/servicebus-emulator:2\.\d+\.\d+$/);
    expect(services.sql.image).toMatch(/\/mssql\/server:2022-/);
    expect(services.azurite.image).toMatch(/\/azure-storage\/azurite:\d+\.\d+\.\d+$/);
  });

  it('starts the emulator once its database is healthy, with the same password and our entities', () => {
    const { depends_on, environment, volumes } = services.servicebus;
    expect(depends_on).toEqual({ sql: { condition: 'service_healthy' } });
    expect(environment.SQL_SERVER).toBe('sql');
    expect(environment.MSSQL_SA_PASSWORD).toBe(services.sql.environment.MSSQL_SA_PASSWORD);
    expect(services.sql.healthcheck.test[1]).toMatch(/sqlcmd .*SELECT 1/);
    expect(volumes).toEqual([
      expect.stringContaining('./entities.json}:/ServiceBus_Emulator/ConfigFiles/Config.json:ro'),
    ]);
  });

  it('accepts no license for anybody', () => {
    for (const { environment } of [services.servicebus, services.sql]) {
      expect(environment.ACCEPT_EULA).toMatch(/^\$\{ACCEPT_EULA:\?/);
    }
  });

  it('is reached from this machine only, at the ports of local.settings.json', () => {
    const ports: string[] = Object.values<{ ports?: string[] }>(services).flatMap((service) => service.ports ?? []);
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
    expect(ports).toEqual(
      expect.arrayContaining(['127.0.0.1:5672:5672', '127.0.0.1:5300:5300', '127.0.0.1:10002:10002']),
    );
    expect(localSettings.ServiceBusConnection).toContain('localhost:5672');
    expect(localSettings.LedgerStorage).toBe('UseDevelopmentStorage=true');
  });

  it('is what the scripts start', () => {
    expect(scripts['emulator:up']).toContain('--file local/compose.yaml up');
    expect(scripts['emulator:down']).toContain('--file local/compose.yaml down');
    expect(scripts['start:emulator']).toContain('local/start-emulator.ts');
    expect(scripts['test:emulator']).toContain('vitest.emulator.config.ts');
  });
});

describe('azure.yaml', () => {
  const { services, infra, hooks } = parse(readText('azure.yaml'));

  it('deploys the package as it is, to the app that the template tags', () => {
    expect(services).toEqual({
      consumer: { project: 'dist/deploy', language: 'js', host: 'function', remoteBuild: false },
    });
    expect(readText('infra/main.bicep')).toContain("'azd-service-name': 'consumer'");
    expect([hooks.prepackage.posix.run, hooks.prepackage.windows.run]).toEqual(['npm run package', 'npm run package']);
    expect(scripts.package).toContain('infra/package.ts');
  });

  it.skipIf(process.platform === 'win32')(
    'packs anew before it deploys, but in CI, where it is given the package',
    () => {
      const predeploy = (environment: Record<string, string>) => {
        const run = hooks.predeploy.posix.run.replace('npm run package', 'echo packed');
        return execFileSync('sh', ['-c', run], {
          env: { PATH: process.env['PATH'], ...environment },
          encoding: 'utf8',
        });
      };
      expect([predeploy({}), predeploy({ CI: 'true' })]).toEqual(['packed\n', '']);
      expect(hooks.predeploy.windows.run).toMatch(/^if \(-not \$env:CI\) \{ npm run package;/);
    },
  );

  it('provisions from a template and parameters that are there', () => {
    expect(infra).toEqual({ provider: 'bicep', path: 'infra', module: 'main' });
    for (const file of ['main.bicep', 'main.bicepparam']) expect(existsSync(join(project, 'infra', file))).toBe(true);
  });
});

describe('the workflows', () => {
  const { jobs, permissions } = parse(readText('.github/workflows/deploy.yml'));
  const stage = parse(readText('.github/workflows/deploy-stage.yml'));

  it('test before anything is signed in, preview on a pull request, and deploy stage by stage', () => {
    expect(jobs.check.steps.map(({ run }: { run?: string }) => run).filter(Boolean)).toEqual([
      'npm ci',
      'npm test',
      'npm run package',
    ]);
    expect([jobs.preview.needs, jobs.dev.needs, jobs.test.needs, jobs.prod.needs]).toEqual([
      'check',
      'check',
      'dev',
      'test',
    ]);
    expect(jobs.preview.if).toContain("github.event_name == 'pull_request'");
    expect(jobs.dev.if).toContain("github.ref == 'refs/heads/main'");
    for (const name of ['dev', 'test', 'prod'] as const) {
      expect(STAGES).toContain(name);
      expect(jobs[name].with.stage).toBe(name);
    }
    // The environment asks for the approval.
    expect(stage.jobs.deploy.environment).toMatch(/^\$\{\{ inputs\.stage \}\}$/);
  });

  it('sign in by OIDC, where it is needed only, and hold no secret', () => {
    expect(permissions).toEqual({ contents: 'read' });
    expect(jobs.check.permissions).toBeUndefined();
    expect(jobs.preview.permissions['id-token']).toBe('write');
    for (const file of ['deploy', 'deploy-stage'])
      expect(readText(`.github/workflows/${file}.yml`)).not.toMatch(/secrets\./);
  });

  it('deploy what was tested: the package of the check, which the stages neither build nor install anew', () => {
    const packed = jobs.check.steps.at(-1);
    expect(packed).toMatchObject({ with: { name: 'app', path: 'dist/deploy' } });
    const steps: { uses?: string; run?: string; with?: unknown }[] = stage.jobs.deploy.steps;
    expect(steps.find(({ uses }) => uses?.startsWith('actions/download-artifact'))?.with).toEqual({
      name: 'app',
      path: 'app',
    });
    expect(steps.map(({ run }) => run).filter(Boolean)).toEqual([
      expect.stringMatching(/^azd auth login --federated-credential-provider github /),
      'azd provision --no-prompt',
      expect.stringMatching(/^cd app && zip .* \.\.\/app\.zip \.$/),
      'azd deploy consumer --from-package app.zip --no-prompt',
    ]);
  });

  it('take actions by commit', () => {
    const used = ['deploy', 'deploy-stage'].flatMap((file) =>
      [...readText(`.github/workflows/${file}.yml`).matchAll(/uses: (?!\.\/)(.+)/g)].map(([, action]) => action),
    );
    expect(used.length).toBeGreaterThan(6);
    for (const action of used) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it('give azd what the parameters read', () => {
    const read = [...readText('infra/main.bicepparam').matchAll(/readEnvironmentVariable\(\s*'(\w+)'/g)].map(
      ([, name]) => name,
    );
    expect(read.length).toBeGreaterThan(3);
    expect(read.filter((name) => !(`${name}` in stage.jobs.deploy.env))).toEqual([]);
  });
});

describe('docs/deploy.md', () => {
  const guide = readText('docs/deploy.md');

  it('names no file and no command that is not there', () => {
    const made = ['dist/deploy', 'infra/.bicep'];
    const paths = [...guide.matchAll(/(?<![\w./-])(?:infra|local|docs|dist|test|\.github)\/[\w./-]*\w/g)].map(
      ([path]) => path,
    );
    expect(paths.length).toBeGreaterThan(10);
    expect(
      paths.filter((path) => !made.some((each) => path.startsWith(each)) && !existsSync(join(project, path))),
    ).toEqual([]);
    const commands = [...guide.matchAll(/npm run ([\w:-]+)/g)].map(([, name]) => name as string);
    expect(commands.filter((name) => !(name in scripts))).toEqual([]);
  });

  it('has the bounds of each stage as they are', () => {
    for (const snapshot of snapshots) {
      const row = guide.split('\n').find((line) => line.startsWith(`| ${snapshot.stage} |`)) ?? '';
      const { maximumInstanceCount } = theOnly(snapshot, 'Microsoft.Web/sites').properties.functionAppConfig
        .scaleAndConcurrency;
      const { retentionInDays } = theOnly(snapshot, 'Microsoft.OperationalInsights/workspaces').properties;
      const { sku } = theOnly(snapshot, 'Microsoft.Storage/storageAccounts');
      expect(row).toContain(`| ${theOnly(snapshot, 'Microsoft.ServiceBus/namespaces').sku?.['tier']}`);
      expect(row).toContain(
        `| ${String(sku?.['name']).replace('Standard_', '')} | ${maximumInstanceCount} | ${retentionInDays} days`,
      );
    }
  });
});
