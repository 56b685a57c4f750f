import { join } from 'node:path';
import { ServiceBusClient, type ServiceBusReceivedMessage } from '@azure/service-bus';
import Long from 'long';
import { inject } from 'vitest';
import { defaultQueueSettings, type QueueSettings } from '../../../local/broker/model/queue-settings.ts';
import type { Broker } from '../../../local/broker/start-broker.ts';
import { readLocalSettings } from '../../../local/host/settings.ts';
import { type PaymentProvider, startPaymentProvider } from '../../../local/provider/payment-provider.ts';
import { takeStock } from '../../helpers/leftovers.ts';
import { aBus } from './bus.ts';
import { type Director, startDirector } from './director.ts';
import { Story } from './story.ts';
import { someTables } from './tables.ts';
import type { Target } from './target.ts';

/** The app whose handler does what a script says. */
export const SCRIPTED_APP = join(import.meta.dirname, '..', '..', 'fixtures', 'apps', 'scripted');

/** The queue of a story that says nothing else. */
const QUEUE: QueueSettings = { ...defaultQueueSettings, lockDurationInMs: 5_000, maxDeliveryCount: 10 };

/** How a story is set up. */
export interface StorySettings {
  /** What differs from {@link QUEUE}. */
  readonly queue?: Partial<QueueSettings>;
  /** App settings, for all hosts of the story. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** One Service Bus, Table Storage, provider and director for all stories of a file, each with a queue and hosts of its own. */
export interface Theatre {
  /** For what no Service Bus does for a test; see `needs`. */
  readonly broker: Broker;
  readonly provider: PaymentProvider;
  readonly director: Director;
  /** Makes a queue of this name, empty, without a host as yet. */
  story(queue: string, settings?: StorySettings): Promise<Story>;
  /** What is in a queue now, whatever its state, as the SDK sees it. */
  messages(queue: string): Promise<ServiceBusReceivedMessage[]>;
  /** Stops everything, and fails where something is left behind. */
  stop(): Promise<void>;
}

/** Starts all that the app `scripted` works on, but for what the target is. */
export async function aTheatre(target: Target | undefined = inject('target')): Promise<Theatre> {
  const expectNothingLeft = takeStock();
  const tables = await someTables(target);
  const bus = await aBus({ queues: new Map() }, target);
  const provider = await startPaymentProvider();
  const director = await startDirector();
  const client = new ServiceBusClient(bus.connectionString);
  const localSettings = await readLocalSettings(join(SCRIPTED_APP, 'local.settings.json'));
  const stories: Story[] = [];
  return {
    get broker() {
      return bus.broker;
    },
    provider,
    director,
    async story(queue, { queue: changed, settings } = {}) {
      await bus.makeQueue(queue, { ...QUEUE, ...changed });
      const story = new Story({
        app: SCRIPTED_APP,
        queue,
        bus,
        provider,
        director,
        client,
        settings: {
          ...localSettings,
          QUEUE: queue,
          ServiceBusConnection: bus.connectionString,
          ...tables.settings,
          PAYMENTS_URL: provider.url,
          DIRECTOR_URL: director.url,
          NODE_COMPILE_CACHE: inject('compileCache'),
          ...settings,
        },
      });
      stories.push(story);
      return story;
    },
    async messages(queue) {
      const receiver = client.createReceiver(queue);
      const messages = await receiver.peekMessages(100, { fromSequenceNumber: Long.ZERO });
      await receiver.close();
      return messages;
    },
    async stop() {
      await Promise.all(stories.map((story) => story.stop()));
      await client.close();
      await director.stop();
      await provider.stop();
      await tables.stop();
      await bus.stop();
      await expectNothingLeft();
    },
  };
}
