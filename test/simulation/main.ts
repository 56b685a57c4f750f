import { parseArgs } from 'node:util';
import { leastCrashes } from './crash-baseline.ts';
import { liveThrough, SCRIPTS, tryEveryCrash } from './crash-points.ts';
import { useLightSignals } from './light-signals.ts';
import { type OutagePlan, OutageScene } from './outage.ts';
import { play } from './run-worlds.ts';
import { liveSeeds, shown } from './seeds.ts';

const USAGE = `Lives the lives of messages on a virtual clock, and says where a promise was broken.

  npm run simulate -- --seeds N [--seed S]   every crash and pair of crashes, then N random lives from seed S (1) on
  npm run simulate -- --seed S --trace       one random life, step by step
  npm run simulate -- --outages              an hour without the store and one without sending, at 200 messages a second
`;

const SHOWN = 3;
const HOUR_IN_MS = 3_600_000;
/** Recovery works off an hour's backlog, 720,000 messages, with 48 calls at a time. */
const LONGEST_RECOVERY_IN_MS = 15 * 60_000;

const print = (line: string): boolean => process.stdout.write(`${line}\n`);

/** CPU seconds since some measurement began. */
const secondsSince = (start: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1e6;
};

async function crashes(): Promise<boolean> {
  const start = process.cpuUsage();
  let [points, pairs] = [0, 0];
  for (const script of SCRIPTS) {
    const tried = await tryEveryCrash(script);
    points += tried.points;
    pairs += tried.pairs;
    if (!tried.failure) continue;
    const { violations, trace } = await liveThrough(script, tried.failure.points, { isTraced: true });
    print(`a message that ${script.name}, with crashes at ${JSON.stringify(tried.failure.points)}:`);
    print([...trace, JSON.stringify(violations)].join('\n'));
    return false;
  }
  const least = leastCrashes();
  print(
    `every crash of ${SCRIPTS.length} lives: ${points} points, ${pairs} pairs (at least ${least.points} and ${least.pairs} expected), ${secondsSince(start).toFixed(1)} s of CPU`,
  );
  return points >= least.points && pairs >= least.pairs;
}

async function randomLives(from: number, count: number): Promise<boolean> {
  const start = process.cpuUsage();
  const { lives, deliveries, found } = await liveSeeds({ from, count });
  const seconds = secondsSince(start);
  for (const { seed, violations } of found.slice(0, SHOWN)) {
    print(`${await shown(seed)}\n${violations.map(({ invariant, detail }) => `${invariant}: ${detail}`).join('\n')}\n`);
  }
  print(
    `${lives} random lives from seed ${from}, ${deliveries} deliveries: ${found.length} with a violation${found.length > 0 ? ` (seeds ${found.map(({ seed }) => seed).slice(0, 20)})` : ''}; ${Math.round(lives / seconds)} lives a second of CPU`,
  );
  return found.length === 0;
}

async function outage(target: OutagePlan['target']): Promise<boolean> {
  const messagesPerSecond = 200;
  const scene = new OutageScene({ target, lengthInMs: HOUR_IN_MS, messagesPerSecond, failing: 0.2 });
  await play(scene.world);
  const report = scene.report();
  print(`an hour without the ${target}: ${JSON.stringify(report)}`);
  return (
    report.completed === report.events &&
    report.deadLetters === 0 &&
    report.violations.length === 0 &&
    report.brokerOperationsPerSecond < messagesPerSecond &&
    report.recoveredInMs < LONGEST_RECOVERY_IN_MS
  );
}

async function main(): Promise<boolean> {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string' },
      seed: { type: 'string', default: '1' },
      trace: { type: 'boolean', default: false },
      outages: { type: 'boolean', default: false },
    },
  });
  const seed = Number(values.seed);
  const seeds = Number(values.seeds ?? 0);
  if (!Number.isInteger(seed) || !Number.isInteger(seeds) || (!values.outages && !values.trace && seeds < 1)) {
    process.stderr.write(USAGE);
    return false;
  }
  // Errors are thrown by the million here, and nobody reads their stacks.
  Error.stackTraceLimit = 0;
  useLightSignals();
  if (values.trace) return print(await shown(seed));
  if (values.outages) {
    const [store, send] = [await outage('store'), await outage('send')];
    return store && send;
  }
  const survived = await crashes();
  return (await randomLives(seed, seeds)) && survived;
}

process.exitCode = (await main()) ? 0 : 1;
