import rhea from 'rhea';
import { aMessage } from './a-message.ts';
import { BenchClient } from './bench-client.ts';
import { inTurn, median, timeOf } from './rounds.ts';
import { startServer } from './server-process.ts';

const SHALLOW = 1000;
const DEEP = 100_000;
/** A message passes through a queue whose depth stays about the same: so many are sent, then as many received. */
const STEP = 250;
const STEPS = 12;
const LIMITS = { rounds: 15, limitInMs: 20_000 };
const bytes = rhea.message.encode(aMessage() as never);

/** Microseconds for one message through the broker, sent, received and completed, by the depth of the queue. */
export type DepthCost = {
  readonly shallowInUs: number;
  readonly deepInUs: number;
  readonly ratio: number;
  /** The same of the broker's own processor time, which others on the machine disturb less. */
  readonly cpuRatio: number;
  readonly rounds: number;
};

/** What a message costs when few and when many others wait. */
export async function depthCost(): Promise<DepthCost> {
  const servers = await Promise.all([startServer('broker-server.ts'), startServer('broker-server.ts')]);
  try {
    const [shallow, deep] = await Promise.all(servers.map(({ port }) => BenchClient.connect(port)));
    if (shallow === undefined || deep === undefined) throw new Error('A client is missing.');
    await deep.send(bytes, DEEP);
    await shallow.send(bytes, SHALLOW);
    for (const client of [shallow, deep]) await pass(client);
    const cpu = () => Promise.all(servers.map(async (server) => (await server.usage()).cpuInMs));
    const before = await cpu();
    const cost = (client: BenchClient) => async () => ((await timeOf(() => pass(client))) * 1000) / (STEP * STEPS);
    const pairs = await inTurn(LIMITS, cost(shallow), cost(deep));
    const after = await cpu();
    const [shallowCpu = 1, deepCpu = 1] = after.map((end, index) => end - (before[index] ?? 0));
    await Promise.all([shallow.close(), deep.close()]);
    return {
      shallowInUs: median(pairs.map(({ first }) => first)),
      deepInUs: median(pairs.map(({ second }) => second)),
      ratio: median(pairs.map(({ first, second }) => second / first)),
      cpuRatio: deepCpu / shallowCpu,
      rounds: pairs.length,
    };
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

async function pass(client: BenchClient): Promise<void> {
  for (let step = 0; step < STEPS; step++) {
    await client.send(bytes, STEP);
    await client.receive(STEP);
  }
}
