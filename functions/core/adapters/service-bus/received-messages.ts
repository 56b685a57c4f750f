import { createRequire } from 'node:module';
import { type ReceivedMessage, splitBindingData } from './delivery-from-amqp.ts';

interface BindingData {
  readonly content?: Uint8Array | null;
}

interface Resolver {
  hasResourceFactory(source: string): boolean;
  registerResourceFactory(source: string, factory: (data: BindingData | BindingData[]) => unknown): void;
}

/** What the host's extension calls the messages it hands over under `sdkBinding`. */
const SOURCE = 'AzureServiceBusReceivedMessage';

/**
 * Makes handlers get {@link ReceivedMessage} (or an array of them in a batch) instead of a parsed body. The resolver is
 * taken by `require`, as the programming model takes it: the package's ESM build is another copy with a list of its
 * own.
 */
export function registerReceivedMessages(): void {
  const { ResourceFactoryResolver } = createRequire(import.meta.url)('@azure/functions-extensions-base') as {
    ResourceFactoryResolver: { getInstance(): Resolver };
  };
  const resolver = ResourceFactoryResolver.getInstance();
  if (resolver.hasResourceFactory(SOURCE)) return;
  const split = ({ content }: BindingData): ReceivedMessage => splitBindingData(Buffer.from(content ?? []));
  resolver.registerResourceFactory(SOURCE, (data) => (Array.isArray(data) ? data.map(split) : split(data)));
}
