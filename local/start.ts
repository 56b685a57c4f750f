import { readdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from './build.ts';
import type { LogEntry } from './host/log-entry.ts';
import { BUILT_IN_MESSAGES, BUILT_IN_QUEUE, differences, scenarioSettings } from './scenario/built-in.ts';
import { type InputMessage, parseInput } from './scenario/input.ts';
import type { Result } from './scenario/result.ts';
import { providerScript, ReportCollector, runScenario } from './scenario/run-scenario.ts';
import { deadLetterLines, timelineLine } from './scenario/timeline.ts';
import { startStack } from './stack.ts';

const USAGE = `npm start                                           the built-in scenario
npm start --silent -- --input FILE.jsonl [--json] [--timeout SECONDS] [--queue NAME]`;

const project = join(import.meta.dirname, '..');

interface Options {
  readonly messages: readonly InputMessage[];
  readonly isBuiltIn: boolean;
  readonly queue: string;
  readonly json: boolean;
  readonly timeoutInMs: number;
}

function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      input: { type: 'string' },
      json: { type: 'boolean', default: false },
      timeout: { type: 'string', default: '60' },
      queue: { type: 'string', default: BUILT_IN_QUEUE },
    },
  });
  const seconds = Number(values.timeout);
  if (!(seconds > 0 && seconds <= 86_400)) {
    throw new Error(`--timeout: expected seconds from 1 to 86400, got ${JSON.stringify(values.timeout)}`);
  }
  const shared = { json: values.json, queue: values.queue, timeoutInMs: seconds * 1_000 };
  if (values.input === undefined) return { ...shared, messages: BUILT_IN_MESSAGES, isBuiltIn: true };
  let text: string;
  try {
    // npm runs scripts in the project; the file is meant from where the user stands.
    text = readFileSync(resolve(process.env['INIT_CWD'] ?? '.', values.input), 'utf8');
  } catch (error) {
    throw new Error(`--input: cannot read ${values.input} (${(error as NodeJS.ErrnoException).code})`);
  }
  return { ...shared, messages: parseInput(text, values.input), isBuiltIn: false };
}

/** Settings of the policy from the caller's own environment, so that a run can try another policy. */
const policyFromEnvironment = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(process.env).filter(
      (entry): entry is [string, string] => entry[0].startsWith('RETRY__') && entry[1] !== undefined,
    ),
  );

async function main(signal: AbortSignal): Promise<boolean> {
  const { messages, isBuiltIn, queue, json, timeoutInMs } = readOptions(process.argv.slice(2));
  const print = (line: string) => (json ? undefined : console.log(line));

  print('building the app, then starting broker, Azurite, payment provider and host on free ports');
  await build(project, signal);
  const nameWidth = Math.max(...messages.map(({ messageId }) => messageId.length));
  const collector = new ReportCollector((report) => print(timelineLine(report, nameWidth)));
  const onLog = (entry: LogEntry) => {
    collector.onLog(entry);
    if (entry.level === 'error' || entry.level === 'critical') console.error(entry.message);
  };
  const events = readdirSync(join(project, 'functions', 'events'));
  const settings = { ...scenarioSettings(events), ...policyFromEnvironment() };
  const script = providerScript(messages, queue, events);
  const stack = await startStack({ project, settings, script, onLog }, signal);
  try {
    const result = await runScenario(stack, messages, collector, { queue, timeoutInMs, signal });
    const wrong = isBuiltIn ? differences(result) : problemsOf(result);
    const ok = wrong.length === 0;
    if (json) process.stdout.write(`${JSON.stringify({ ...result, ok } satisfies Result)}\n`);
    for (const line of deadLetterLines(result.deadLetterQueue)) print(line);
    for (const { orderId, count } of result.charges)
      print(`charged ${orderId} ${count === 1 ? 'once' : `${count} times`}`);
    for (const problem of wrong) console.error(`not as expected: ${problem}`);
    if (ok)
      print(isBuiltIn ? 'every outcome is as expected' : 'every message has come to an end, nobody was charged twice');
    return ok;
  } finally {
    await stack.stop();
  }
}

/** What any run must hold: every message has come to an end, and nobody was charged twice. */
const problemsOf = ({ events, charges }: Omit<Result, 'ok'>): string[] => [
  ...events.filter(({ final }) => final === 'pending').map(({ messageId }) => `${messageId} is still pending`),
  ...charges.filter(({ count }) => count > 1).map(({ orderId, count }) => `${orderId} was charged ${count} times`),
];

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    process.exitCode = 128 + constants.signals[signal];
    stopping.abort(new Error('stopped'));
  });
}
try {
  const ok = await main(stopping.signal);
  process.exitCode ??= ok ? 0 : 1;
} catch (error) {
  if (!stopping.signal.aborted) {
    console.error(`npm start: ${error instanceof Error ? error.message : String(error)}`);
    if ((error as { code?: unknown }).code?.toString().startsWith('ERR_PARSE_ARGS')) console.error(USAGE);
    process.exitCode = 1;
  }
}
