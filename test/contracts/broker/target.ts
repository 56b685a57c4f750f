import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { ServiceBusClient } from '@azure/service-bus';
import { loadEntities } from '../../../local/broker/entities.ts';
import { startBroker } from '../../../local/broker/start-broker.ts';
import { emptyAll } from './empty-all.ts';

/** What a target may lack. A case that needs it is skipped there by name. */
export const FEATURES = {
  cancelScheduled: 'takes a scheduled message back when it is told to',
  propertyCase: 'keeps apart property names that differ in case only',
  stableSessionLinks: 'keeps a session link that is idle',
  brokenSizes: 'refuses what is too large without breaking the link',
  emptyQuota: 'refuses sends to an entity that is full',
} as const;
export type Feature = keyof typeof FEATURES;

/** Something that speaks Service Bus. */
export type Target = {
  readonly name: string;
  /** Whether each run has entities of its own, so that cases may run beside one another. */
  readonly isIsolated: boolean;
  readonly lacks: ReadonlySet<Feature>;
  /** A client of a namespace in which every entity of the suite is empty; it is closed with {@link TargetRun.end}. */
  begin(): Promise<TargetRun>;
};

/** One case's use of a target. */
export type TargetRun = {
  readonly client: ServiceBusClient;
  readonly connectionString: string;
  /** Lets so much of the broker's time go by. */
  elapse(inMs: number): Promise<void>;
  end(): Promise<void>;
};

const RETRY = { retryOptions: { maxRetries: 0, timeoutInMs: 10_000 } };
/** The entities of the suite. The official emulator loads this file as it is; on a real namespace they are created with it. */
const ENTITY_FILE = join(import.meta.dirname, 'entities.json');

/** The broker of this project, a new one for each case, with a clock that the cases move. */
export const embeddedBroker: Target = {
  name: 'the embedded broker',
  isIsolated: true,
  lacks: new Set(['emptyQuota']),
  begin: async () => {
    let aheadInMs = 0;
    const entities = await loadEntities(ENTITY_FILE);
    const broker = await startBroker({ entities, clock: { now: () => Date.now() + aheadInMs } });
    const { connectionString } = broker;
    const client = new ServiceBusClient(connectionString, RETRY);
    return {
      client,
      connectionString,
      elapse: async (inMs) => {
        aheadInMs += inMs;
        broker.namespace.advance();
      },
      end: async () => {
        await client.close();
        await broker.stop();
      },
    };
  },
};

/** Any other Service Bus: the official emulator, or a real namespace. Its time is real, and its entities are emptied before each case. */
export function remoteTarget(connectionString: string): Target {
  const isEmulator = connectionString.includes('UseDevelopmentEmulator=true');
  return {
    name: isEmulator ? 'the emulator' : 'the namespace',
    isIsolated: false,
    lacks: new Set<Feature>(
      isEmulator ? ['cancelScheduled', 'propertyCase', 'stableSessionLinks', 'emptyQuota'] : ['emptyQuota'],
    ),
    begin: async () => {
      const client = new ServiceBusClient(connectionString, RETRY);
      await emptyAll(client, ENTITY_FILE);
      return { client, connectionString, elapse: (inMs) => wait(inMs), end: () => client.close() };
    },
  };
}
