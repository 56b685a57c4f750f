import { defaultQueueSettings } from '../local/broker/model/queue-settings.ts';
import { startBroker } from '../local/broker/start-broker.ts';
import { serve } from './serve.ts';

// A process of its own: the broker under test, with one queue.
const settings = { ...defaultQueueSettings, lockDurationInMs: 300_000 };
const { port } = await startBroker({ entities: { queues: new Map([['bench', settings]]) } });
serve(port);
