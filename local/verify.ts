import { spawnSync } from 'node:child_process';

/** What `npm test` leaves out because it takes minutes; each part is an npm script of its own. */
const PARTS: readonly (readonly [what: string, script: string, ...args: string[]])[] = [
  ['documentation of every public symbol', 'docs:check'],
  ['dead code, exports and dependencies', 'dead-code'],
  ['branches of the rules', 'coverage'],
  ['long simulation', 'simulate', '--', '--seeds', '200000'],
  ['an hour without the store, and one without sending', 'simulate', '--', '--outage', 'both'],
  ['.NET client', 'interop'],
  ['mutation score of the rules', 'mutate'],
];

const print = (line: string): boolean => process.stdout.write(`${line}\n`);

const inMinutes = (sinceInMs: number): string => `${((performance.now() - sinceInMs) / 60_000).toFixed(1)} min`;

/** Runs all parts, whichever fail, so that one run tells everything. */
function verify(): boolean {
  const summary = PARTS.map(([what, script, ...args]) => {
    print(`\n> npm run ${[script, ...args].join(' ')}\n`);
    const startedAtInMs = performance.now();
    const { status, signal } = spawnSync('npm', ['run', '--silent', script, ...args], {
      stdio: 'inherit',
      shell: process.platform === 'win32',
    });
    // Ctrl-C has reached the part as well, and means all of them.
    if (signal) process.exit(1);
    return { isPassed: status === 0, line: `${what} (npm run ${script}), ${inMinutes(startedAtInMs)}` };
  });
  print('');
  for (const { isPassed, line } of summary) print(`${isPassed ? 'passed' : 'FAILED'}  ${line}`);
  return summary.every(({ isPassed }) => isPassed);
}

process.exitCode = verify() ? 0 : 1;
