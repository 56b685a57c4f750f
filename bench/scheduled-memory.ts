import rhea from 'rhea';
import { aMessage } from './a-message.ts';
import { BenchClient } from './bench-client.ts';
import { startServer } from './server-process.ts';

const COUNT = 100_000;
const WARM_UP = 1000;
const AHEAD_IN_MS = 60 * 24 * 3_600_000;

/** What the broker keeps for a scheduled message, beyond the bytes of the message. */
export type ScheduledMemory = { readonly count: number; readonly ownBytes: number; readonly overheadInBytes: number };

/** Schedules messages 60 days ahead and compares the broker's memory before and after. */
export async function scheduledMemory(): Promise<ScheduledMemory> {
  const server = await startServer('broker-server.ts');
  try {
    const client = await BenchClient.connect(server.port);
    const bytes = rhea.message.encode(aMessage(Date.now() + AHEAD_IN_MS) as never);
    await client.send(bytes, WARM_UP);
    const before = await server.usage();
    await client.send(bytes, COUNT);
    const after = await server.usage();
    await client.close();
    const perMessage = (after.memoryInBytes - before.memoryInBytes) / COUNT;
    return { count: COUNT, ownBytes: bytes.length, overheadInBytes: perMessage - bytes.length };
  } finally {
    await server.stop();
  }
}
