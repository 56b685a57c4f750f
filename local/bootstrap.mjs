// Makes a bare clone ready, then runs the given command on the project's own Node:
//   node local/bootstrap.mjs <command> [arguments]
// Plain JavaScript for Node 18 on purpose: it runs before anything is installed. It is not a `pre` script, because npm
// skips those where `ignore-scripts` is set.
import { spawn } from 'node:child_process';
import { existsSync, lstatSync, statSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const OLDEST_NODE = [22, 18];
const project = join(dirname(fileURLToPath(import.meta.url)), '..');
const packages = join(project, 'node_modules');
const binaries = join(packages, '.bin');
const onWindows = process.platform === 'win32';

/** Whether `node_modules` is absent or older than the lock file. */
function needsInstall() {
  const installed = join(packages, '.package-lock.json');
  return !existsSync(installed) || statSync(installed).mtimeMs < statSync(join(project, 'package-lock.json')).mtimeMs;
}

/** What runs now, and by which signal this process has been told to end. */
let child;
let stoppedBy;
// A terminal sends Ctrl-C to the child as well; a `kill` reaches this process alone. The child decides when to end.
function stop(signal) {
  stoppedBy = signal;
  child?.kill(signal);
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => stop(signal));
if (process.env.npm_lifecycle_event) endWithParent();

/** npm hands a `kill` on to the shell between it and this process only; what is seen of that here is another parent. */
function endWithParent() {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    stop('SIGTERM');
  }, 200);
  watch.unref();
}

const codeOf = (signal) => 128 + (constants.signals[signal] ?? 0);

/** @returns {Promise<number>} the exit code of the command once it has ended, as a shell would give it */
function run(command, args, options) {
  child = spawn(command, args, { cwd: project, shell: onWindows, ...options });
  return new Promise((resolve) => {
    child.on('error', (error) => fail(`cannot run ${command}: ${error.message}`));
    child.on('exit', (code, signal) => resolve(code ?? codeOf(signal)));
  });
}

/** Runs `npm ci` with everything it prints on stderr, so that the stdout of the command stays its own. */
async function install() {
  if (lstatSync(packages, { throwIfNoEntry: false })?.isSymbolicLink()) {
    fail(
      'node_modules is a link, and npm ci would empty the folder that it leads to. What to do: install there, or remove the link.',
    );
  }
  process.stderr.write('Installing the locked packages (once)...\n');
  const code = await run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { stdio: ['ignore', 2, 2] });
  if (stoppedBy) process.exit(codeOf(stoppedBy));
  if (code !== 0) {
    fail(`npm ci failed (exit code ${code}). What to do: see its output above, then run the command again.`);
  }
}

/** @returns {string} why neither the pinned Node nor the machine's own will do; empty when one does */
function missingNode() {
  if (existsSync(join(binaries, onWindows ? 'node.cmd' : 'node'))) return '';
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return '';
  return `Node ${process.versions.node} is too old: expected ${OLDEST_NODE.join('.')} or newer, and no pinned Node is published for ${process.platform}-${process.arch}. What to do: install Node 24.`;
}

function fail(line) {
  process.stderr.write(`bootstrap: ${line}\n`);
  process.exit(1);
}

if (needsInstall()) await install();
const problem = missingNode();
if (problem) fail(problem);

const [command, ...args] = process.argv.slice(2);
if (command) {
  const path = `${binaries}${delimiter}${process.env.PATH ?? ''}`;
  process.exit(await run(command, args, { stdio: 'inherit', env: { ...process.env, PATH: path } }));
}
