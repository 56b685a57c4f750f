import rhea from 'rhea';
import { aMessage } from './a-message.ts';
import { BenchClient } from './bench-client.ts';
import { inTurn, median, type Pair, timeOf } from './rounds.ts';
import { type ServerProcess, startServer } from './server-process.ts';

const COUNT = 10_000;
const LIMITS = { rounds: 7, limitInMs: 20_000 };
const bytes = rhea.message.encode(aMessage() as never);

/** Messages a second of the broker and of the bare server; the ratio is the median of the rounds' own. */
export type Throughput = {
  readonly broker: number;
  readonly bare: number;
  readonly ratio: number;
  readonly rounds: number;
};

/** Sends, then receives and completes, against the broker and against a server without a queue, in turn. */
export async function throughput(): Promise<{ sends: Throughput; completions: Throughput }> {
  const servers = await Promise.all([startServer('broker-server.ts'), startServer('bare-server.ts')]);
  try {
    const [broker, bare] = await Promise.all(servers.map((server) => warmClient(server)));
    if (broker === undefined || bare === undefined) throw new Error('A client is missing.');
    const sendRate = (client: BenchClient) => () => rate(() => client.send(bytes, COUNT));
    const receiveRate = (client: BenchClient) => () => rate(() => client.receive(COUNT));
    const sends = await inTurn(LIMITS, sendRate(broker), sendRate(bare));
    // Each round of the broker takes out what one round of sends has put in.
    const completions = await inTurn({ ...LIMITS, rounds: sends.length }, receiveRate(broker), receiveRate(bare));
    await Promise.all([broker.close(), bare.close()]);
    return { sends: summary(sends), completions: summary(completions) };
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

/** A client of a server that has been compiled: what comes first is slower, and nobody's everyday. */
async function warmClient({ port }: ServerProcess): Promise<BenchClient> {
  const client = await BenchClient.connect(port);
  await client.send(bytes, COUNT);
  await client.receive(COUNT);
  return client;
}

async function rate(work: () => Promise<void>): Promise<number> {
  return (COUNT * 1000) / (await timeOf(work));
}

function summary(pairs: readonly Pair[]): Throughput {
  return {
    broker: median(pairs.map(({ first }) => first)),
    bare: median(pairs.map(({ second }) => second)),
    ratio: median(pairs.map(({ first, second }) => first / second)),
    rounds: pairs.length,
  };
}
