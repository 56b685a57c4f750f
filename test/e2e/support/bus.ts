import { join } from 'node:path';
import { ServiceBusAdministrationClient, ServiceBusClient } from '@azure/service-bus';
import { type Entities, loadEntities } from '../../../local/broker/entities.ts';
import type { QueueSettings } from '../../../local/broker/model/queue-settings.ts';
import { type Broker, startBroker } from '../../../local/broker/start-broker.ts';
import { waitingMessageIds } from '../../../local/scenario/queue-view.ts';
import { speakPlainHttp } from '../../helpers/plain-http.ts';
import { project } from './project.ts';
import type { Target } from './target.ts';

/** A Service Bus for tests: a broker of their own, or one that is there already. */
export interface Bus {
  readonly connectionString: string;
  /** The broker itself. @throws Error where there is only an address: a test that asks must say that it needs it */
  readonly broker: Broker;
  /** Makes a queue, empty, in place of one of that name. */
  makeQueue(name: string, settings: QueueSettings): Promise<void>;
  /** How many events have a message in the queue, whatever its state; dead letters apart. */
  waiting(queue: string): Promise<number>;
  /** Stops what was started, and removes what was made. */
  stop(): Promise<void>;
}

/** A Service Bus with these entities and nothing in them. */
export const aBus = (entities: Entities, target: Target | undefined): Promise<Bus> =>
  target ? busAt(target, entities) : ownBus(entities);

async function ownBus(entities: Entities): Promise<Bus> {
  const broker = await startBroker({ entities });
  return {
    broker,
    connectionString: broker.connectionString,
    makeQueue: async (name, settings) => void broker.namespace.addQueue(name, settings),
    waiting: async (queue) => {
      const { active, scheduled, deferred } = broker.namespace.queue(queue).counts();
      return active + scheduled + deferred;
    },
    stop: () => broker.stop(),
  };
}

async function busAt({ serviceBus, administration }: Target, entities: Entities): Promise<Bus> {
  const admin = administrationClient(administration);
  const client = new ServiceBusClient(serviceBus);
  const made: string[] = [];
  await remake(admin, entities);
  return {
    connectionString: serviceBus,
    get broker(): Broker {
      throw new Error('There is no broker here, only an address: the test must say what it needs.');
    },
    makeQueue: async (name, settings) => {
      made.push(name);
      await remake(admin, { queues: new Map([[name, settings]]) });
    },
    waiting: async (queue) => (await waitingMessageIds(client, queue)).size,
    stop: async () => {
      await client.close();
      for (const queue of made) await admin.deleteQueue(queue);
      // Whoever uses the target next finds what the project says, and none of our messages.
      if (entities.queues.size > 0) await remake(admin, await loadEntities(join(project, 'local', 'entities.json')));
    },
  };
}

function administrationClient(connectionString: string): ServiceBusAdministrationClient {
  const client = new ServiceBusAdministrationClient(connectionString);
  return connectionString.includes('UseDevelopmentEmulator=true') ? speakPlainHttp(client) : client;
}

/** Removes entities of these names and makes them anew, which is the one way to empty them of what is scheduled. */
async function remake(admin: ServiceBusAdministrationClient, { queues, topics = new Map() }: Entities): Promise<void> {
  for (const topic of topics.keys()) if (await admin.topicExists(topic)) await admin.deleteTopic(topic);
  for (const queue of queues.keys()) if (await admin.queueExists(queue)) await admin.deleteQueue(queue);
  for (const [queue, settings] of queues) {
    await admin.createQueue(queue, { ...received(settings), ...deduplicated(settings) });
  }
  for (const [topic, { subscriptions, ...settings }] of topics) {
    await admin.createTopic(topic, {
      defaultMessageTimeToLive: duration(settings.defaultTimeToLiveInMs),
      ...deduplicated(settings),
    });
    for (const [name, { queue }] of subscriptions) await admin.createSubscription(topic, name, received(queue));
  }
}

const received = (settings: QueueSettings) => ({
  lockDuration: duration(settings.lockDurationInMs),
  maxDeliveryCount: settings.maxDeliveryCount,
  defaultMessageTimeToLive: duration(settings.defaultTimeToLiveInMs),
  deadLetteringOnMessageExpiration: settings.deadLetteringOnMessageExpiration,
  requiresSession: settings.requiresSession,
  ...(settings.forwardTo === undefined ? {} : { forwardTo: settings.forwardTo }),
});

const deduplicated = ({ duplicateDetectionWindowInMs: inMs }: Pick<QueueSettings, 'duplicateDetectionWindowInMs'>) =>
  inMs === undefined ? {} : { requiresDuplicateDetection: true, duplicateDetectionHistoryTimeWindow: duration(inMs) };

const duration = (inMs: number): string => `PT${inMs / 1_000}S`;
