import { BODY_IN_BYTES } from './a-message.ts';
import { copyCosts } from './copy.ts';
import { depthCost } from './depth.ts';
import { hours } from './hour.ts';
import { scheduledMemory } from './scheduled-memory.ts';
import { telemetryCost } from './telemetry.ts';
import { type Throughput, throughput } from './throughput.ts';

const GOAL = { throughput: 0.75, depth: 1.2, hour: 1.2, overheadInBytes: 500, copy: 1.5, telemetry: 0.1 };

/** Measures the broker and the app, and prints what it found. Numbers hold for this machine and this hour; the ratios travel further. */
async function main(): Promise<void> {
  print(`Bodies of ${BODY_IN_BYTES} bytes; client and server in separate processes, over loopback.`);
  await printCopyCosts();
  const { sends, completions } = await throughput();
  printThroughput('sends', sends);
  printThroughput('receive-and-complete', completions);
  const depth = await depthCost();
  print(
    `one message through a queue: ${depth.shallowInUs.toFixed(0)} us at depth 1,000, ${depth.deepInUs.toFixed(0)} us at depth 100,000; ` +
      `ratio ${depth.ratio.toFixed(2)} in ${depth.rounds} rounds, ${depth.cpuRatio.toFixed(2)} in processor time; ` +
      goal(`at most ${GOAL.depth}`, depth.ratio <= GOAL.depth),
  );
  for (const { name, partsInUs } of hours()) {
    const [first = 0, last = 0] = [partsInUs[0], partsInUs.at(-1)];
    print(
      `an hour at 200 messages a second through the model, a queue ${name}: ${first.toFixed(1)} us each in the first ` +
        `quarter, ${last.toFixed(1)} us in the last; ${goal(`at most ${GOAL.hour} times as much`, last <= GOAL.hour * first)}`,
    );
  }
  const { count, ownBytes, overheadInBytes } = await scheduledMemory();
  print(
    `memory of ${whole(count)} scheduled messages: ${overheadInBytes.toFixed(0)} bytes each beyond their own ${ownBytes}; ` +
      goal(`under ${GOAL.overheadInBytes}`, overheadInBytes < GOAL.overheadInBytes),
  );
  await printTelemetryCost();
}

async function printTelemetryCost(): Promise<void> {
  const { quiet, exporting, overhead, cpuOverhead, rounds, missing } = await telemetryCost();
  print(
    `the deployed package with a handler that does nothing: ${whole(quiet)}/s with telemetry off, ${whole(exporting)}/s with all of ` +
      `it exported; overhead ${percent(overhead)} in ${rounds} rounds, ${percent(cpuOverhead)} more processor time of the worker; ` +
      `${missing} spans and lines lost; ${goal(`under ${percent(GOAL.telemetry)}`, overhead < GOAL.telemetry && missing === 0)}`,
  );
}

const percent = (share: number): string => `${(share * 100).toFixed(1)}%`;

async function printCopyCosts(): Promise<void> {
  for (const { bodyInBytes, oursInUs, sdkInUs, ratio } of await copyCosts()) {
    print(
      `decode, decide and copy, ${whole(bodyInBytes)} bytes of body: ${oursInUs.toFixed(0)} us, the SDK's decode and encode ` +
        `${sdkInUs.toFixed(0)} us; ratio ${ratio.toFixed(2)}; ${goal(`at most ${GOAL.copy}`, ratio <= GOAL.copy)}`,
    );
  }
}

function printThroughput(what: string, { broker, bare, ratio, rounds }: Throughput): void {
  print(
    `${what}: ${whole(broker)}/s, bare rhea ${whole(bare)}/s; ratio ${ratio.toFixed(2)} in ${rounds} rounds; ` +
      goal(`at least ${GOAL.throughput}`, ratio >= GOAL.throughput),
  );
}

function goal(text: string, isMet: boolean): string {
  return `goal ${text}: ${isMet ? 'met' : 'MISSED'}`;
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

await main();
