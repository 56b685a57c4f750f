import { leastCrashes } from './crash-baseline.ts';
import { liveThrough, SCRIPTS, tryEveryCrash } from './crash-points.ts';
import { useLightSignals } from './light-signals.ts';
import { readOptions, USAGE } from './options.ts';
import { type OutagePlan, OutageScene } from './outage.ts';
import { play } from './run-worlds.ts';
import { liveSeeds, shown } from './seeds.ts';

const SHOWN = 3;
const MINUTE_IN_MS = 60_000;
/** Recovery works off the backlog, of an hour at 200 a second 720,000 messages, with 48 calls at a time. */
const LONGEST_RECOVERY_IN_MS = 15 * MINUTE_IN_MS;

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

async function outage(target: OutagePlan['target'], minutes: number, messagesPerSecond: number): Promise<boolean> {
  const start = process.cpuUsage();
  const lengthInMs = minutes * MINUTE_IN_MS;
  const scene = new OutageScene({ target, lengthInMs, messagesPerSecond, failing: 0.2 });
  await play(scene.world);
  const report = scene.report();
  const { events, completed, deadLetters, brokerOperationsPerSecond, recoveredInMs, violations } = report;
  const isSurvived =
    completed === events &&
    deadLetters === 0 &&
    violations.length === 0 &&
    brokerOperationsPerSecond < messagesPerSecond &&
    recoveredInMs < LONGEST_RECOVERY_IN_MS;
  print(
    `${minutes} minutes without the ${target} at ${messagesPerSecond} messages a second: ${isSurvived ? 'survived' : 'NOT survived'}; ${completed} of ${events} events completed, ${deadLetters} dead letters, ${brokerOperationsPerSecond.toFixed(1)} broker operations a second, recovered in ${recoveredInMs / 1_000} s, ${report.handlerRunsPerEvent} runs an event; ${secondsSince(start).toFixed(0)} s of CPU`,
  );
  for (const { invariant, detail } of violations.slice(0, SHOWN)) print(`  ${invariant}: ${detail}`);
  return isSurvived;
}

async function main(): Promise<boolean> {
  const options = readOptions(process.argv.slice(2));
  // Errors are thrown by the million here, and nobody reads their stacks.
  Error.stackTraceLimit = 0;
  useLightSignals();
  switch (options.kind) {
    case 'problem':
      process.stderr.write(`${options.problem}\n\n${USAGE}`);
      return false;
    case 'trace':
      return print(await shown(options.seed));
    case 'outages': {
      let areAllSurvived = true;
      for (const target of options.targets) {
        const isSurvived = await outage(target, options.minutes, options.messagesPerSecond);
        areAllSurvived &&= isSurvived;
      }
      return areAllSurvived;
    }
    case 'lives': {
      const areSurvived = await crashes();
      return (await randomLives(options.from, options.count)) && areSurvived;
    }
  }
}

process.exitCode = (await main()) ? 0 : 1;
