import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const project = join(import.meta.dirname, '..', '..');
const readme = readFileSync(join(project, 'README.md'), 'utf8');

interface Block {
  /** The first file named in the prose before the block, if that names one. */
  readonly file: string | undefined;
  readonly language: string;
  readonly content: string;
}

/** The code blocks of a section, without the indentation of the list that they stand in. */
function blocksOf(section: string): Block[] {
  const start = readme.indexOf(`## ${section}\n`);
  const end = readme.indexOf('\n## ', start);
  const proseAndBlock = /(.*?)^( *)```(\w+)\n(.*?)^ *```$/gms;
  return [...readme.slice(start, end).matchAll(proseAndBlock)].map(
    ([, prose = '', indent = '', language = '', content = '']) => ({
      file: /`([\w./-]+\.(?:ts|json|jsonl))`/.exec(prose)?.[1],
      language,
      content: content.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  );
}

describe('the README on adding an event, followed to the letter', () => {
  let copy: string;

  beforeAll(() => {
    copy = mkdtempSync(join(tmpdir(), 'add-an-event-'));
    for (const name of [
      'functions',
      'local',
      'package.json',
      'package-lock.json',
      'host.json',
      'local.settings.json',
      'tsconfig.json',
      'tsconfig.build.json',
    ]) {
      cpSync(join(project, name), join(copy, name), { recursive: true, preserveTimestamps: true });
    }
    symlinkSync(join(project, 'node_modules'), join(copy, 'node_modules'));
  });
  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  it('gives a second event that runs end to end', async () => {
    const blocks = blocksOf('Add an event');
    for (const { file, language, content } of blocks) {
      if (!file) continue;
      const path = join(copy, file);
      if (language === 'json' && existsSync(path)) addQueue(path, content);
      else {
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, content);
      }
    }
    const command = blocks.find(({ language }) => language === 'sh')?.content.trim() ?? '';

    const result = JSON.parse(await run(`${command} --json`, copy));

    expect(blocks.map(({ file }) => file)).toEqual([
      'functions/events/subscription-renewed/schema.ts',
      'functions/events/subscription-renewed/handler.ts',
      'functions/events/subscription-renewed/policy.ts',
      'functions/subscription-renewed.ts',
      'local/entities.json',
      'renewals.jsonl',
      undefined,
    ]);
    const attempts = result.events[0].attempts.map(({ attempt, outcome, delayMs }: Record<string, unknown>) => [
      attempt,
      outcome,
      delayMs,
    ]);
    expect({ ...result, events: [{ ...result.events[0], attempts }] }).toEqual({
      events: [
        {
          messageId: 'renewal-1',
          eventId: 'renewal-1',
          attempts: [
            [1, 'redelivered', 1_000],
            [2, 'succeeded', null],
          ],
          final: 'completed',
        },
      ],
      deadLetterQueue: [],
      charges: [{ orderId: 'S-1', count: 1 }],
      ok: true,
    });
  }, 60_000);
});

describe('the README', () => {
  it('stays under 200 lines', () => {
    expect(readme.split('\n').length).toBeLessThan(200);
  });

  it('names no file and no command that is not there', () => {
    const { scripts } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
    const example = /subscription-renewed|renewals\.jsonl/;
    const paths = [...readme.matchAll(/`((?:functions|local|test|cli|infra|docs)\/[\w./-]*|[A-Z]+\.md)`/g)].map(
      ([, path = '']) => path,
    );
    const commands = [...readme.matchAll(/npm run ([\w:-]+)/g)].map(([, name = '']) => name);
    expect({
      paths: paths.filter((path) => !example.test(path) && !existsSync(join(project, path))),
      commands: commands.filter((name) => !(name in scripts)),
    }).toEqual({ paths: [], commands: [] });
  });
});

function addQueue(path: string, entry: string): void {
  const entities = JSON.parse(readFileSync(path, 'utf8'));
  entities.UserConfig.Namespaces[0].Queues.push(JSON.parse(entry));
  writeFileSync(path, JSON.stringify(entities, null, 2));
}

async function run(command: string, cwd: string): Promise<string> {
  const { INIT_CWD: _, ...environment } = process.env;
  const child = spawn(command, { cwd, shell: true, env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (out === '') throw new Error(`${command} printed nothing: ${errors}`);
  return out;
}
