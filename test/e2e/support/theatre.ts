import { join } from 'node:path';
import { ServiceBusClient } from '@azure/service-bus';
import { inject } from 'vitest';
import { startAzurite } from '../../../local/azurite.ts';
import { defaultQueueSettings, type QueueSettings } from '../../../local/broker/model/queue-settings.ts';
import { type Broker, startBroker } from '../../../local/broker/start-broker.ts';
import { readLocalSettings } from '../../../local/host/settings.ts';
import { type PaymentProvider, startPaymentProvider } from '../../../local/provider/payment-provider.ts';
import { takeStock } from '../../helpers/leftovers.ts';
import { type Director, startDirector } from './director.ts';
import { Story } from './story.ts';

/** The app whose handler does what a script says. */
export const SCRIPTED_APP = join(import.meta.dirname, '..', '..', 'fixtures', 'apps', 'scripted');

/** How a story is set up. */
export interface StorySettings {
  /** What differs from a queue with a lock of 5 s and 10 deliveries. */
  readonly queue?: Partial<QueueSettings>;
  /** App settings, for all hosts of the story. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** One broker, Azurite, provider and director for all stories of a file, each with a queue and hosts of its own. */
export interface Theatre {
  readonly broker: Broker;
  readonly provider: PaymentProvider;
  readonly director: Director;
  /** Makes a queue of this name, empty, without a host as yet. */
  story(queue: string, settings?: StorySettings): Story;
  /** Stops everything, and fails where something is left behind. */
  stop(): Promise<void>;
}

/** Starts all that the app `scripted` works on. */
export async function aTheatre(): Promise<Theatre> {
  const expectNothingLeft = takeStock();
  const azurite = await startAzurite();
  const broker = await startBroker({ entities: { queues: new Map() } });
  const provider = await startPaymentProvider();
  const director = await startDirector();
  const client = new ServiceBusClient(broker.connectionString);
  const localSettings = await readLocalSettings(join(SCRIPTED_APP, 'local.settings.json'));
  const stories: Story[] = [];
  return {
    broker,
    provider,
    director,
    story(queue, { queue: changed, settings } = {}) {
      broker.namespace.addQueue(queue, {
        ...defaultQueueSettings,
        lockDurationInMs: 5_000,
        maxDeliveryCount: 10,
        ...changed,
      });
      const story = new Story({
        app: SCRIPTED_APP,
        queue,
        broker,
        provider,
        director,
        client,
        settings: {
          ...localSettings,
          QUEUE: queue,
          ServiceBusConnection: broker.connectionString,
          AzureWebJobsStorage: azurite.connectionString,
          LedgerStorage: azurite.connectionString,
          PAYMENTS_URL: provider.url,
          DIRECTOR_URL: director.url,
          NODE_COMPILE_CACHE: inject('compileCache'),
          ...settings,
        },
      });
      stories.push(story);
      return story;
    },
    async stop() {
      await Promise.all(stories.map((story) => story.stop()));
      await client.close();
      await director.stop();
      await provider.stop();
      await azurite.stop();
      await broker.stop();
      await expectNothingLeft();
    },
  };
}
