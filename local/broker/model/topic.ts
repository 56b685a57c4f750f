import type { Content, Fields, PropertyValue } from './content.ts';
import type { Engine } from './engine.ts';
import { changesOf, type Rule, selects } from './filter/rule.ts';
import { Inlet } from './inlet.ts';
import { entityDisabled, quotaExceeded, type Refusal, type SendResult } from './outcomes.ts';
import { Queue } from './queue.ts';
import { defaultQueueSettings, type EntityStatus, type QueueSettings, takesSends } from './queue-settings.ts';
import { StoredMessage } from './stored-message.ts';

/** How a subscription behaves, and which messages it gets. */
export type SubscriptionSettings = { readonly queue: QueueSettings; readonly rules: readonly Rule[] };

/** How a topic behaves. Durations are in milliseconds. */
export type TopicSettings = {
  /** Caps the time to live of everything that is sent to the topic. */
  readonly defaultTimeToLiveInMs: number;
  readonly duplicateDetectionWindowInMs: number | undefined;
  /** Default: that of a queue. */
  readonly maxMessageSizeInBytes?: number;
  /** Bytes that the topic may hold before it refuses sends, all its subscriptions together. Default: that of a queue. */
  readonly maxSizeInBytes?: number;
  /** Default: active. */
  readonly status?: EntityStatus;
  /** By name. */
  readonly subscriptions: ReadonlyMap<string, SubscriptionSettings>;
};

/** A queue that gets copies of those messages of a topic that its rules select. */
export class Subscription {
  readonly name: string;
  readonly queue: Queue;
  /** By name. One rule that selects a message is enough. */
  readonly rules = new Map<string, Rule>();

  constructor(name: string, queue: Queue, rules: readonly Rule[]) {
    this.name = name;
    this.queue = queue;
    for (const rule of rules) this.rules.set(rule.name, rule);
  }

  /**
   * The copies that a message with these fields makes here, as the properties that each adds: one for all rules without an
   * action together, and one for each rule with an action.
   */
  copiesOf(fields: Fields): ReadonlyMap<string, PropertyValue>[] {
    const selecting = [...this.rules.values()].filter(({ filter }) => selects(filter, fields));
    const copies = selecting.flatMap(({ name, action }) => {
      if (action === undefined) return [];
      const changes = [...changesOf(action, fields)].map(([key, value]) => [key, value ?? null] as const);
      return [new Map<string, PropertyValue>([...changes, ['RuleName', name]])];
    });
    const isPlain = selecting.some(({ action }) => action === undefined);
    return isPlain ? [new Map(), ...copies] : copies;
  }
}

/** A topic: keeps nothing but scheduled messages, and gives every other one to its subscriptions at once. */
export class Topic {
  readonly kind = 'topic';
  readonly path: string;
  readonly inlet: Inlet;
  /** By name, in lower case. */
  readonly subscriptions = new Map<string, Subscription>();
  readonly #engine: Engine;
  #settings: TopicSettings;

  constructor(engine: Engine, path: string, settings: TopicSettings) {
    this.path = path;
    this.#engine = engine;
    this.#settings = settings;
    this.inlet = new Inlet(engine, {
      duplicateDetectionWindowInMs: settings.duplicateDetectionWindowInMs,
      requiresSession: false,
      refusal: (sizeInBytes) => this.#refusal(sizeInBytes),
      accept: (message) => this.#distribute(message),
    });
    for (const [name, subscription] of settings.subscriptions) this.addSubscription(name, subscription);
  }

  get settings(): TopicSettings {
    return this.#settings;
  }

  /** Changes how the topic behaves from now on; its subscriptions stay. */
  update(settings: TopicSettings): void {
    this.#settings = settings;
    this.inlet.resizeDuplicateWindow(settings.duplicateDetectionWindowInMs);
    this.#engine.onUpdated(this.path);
  }

  /** Bytes of everything that the topic holds: scheduled messages, and all that its subscriptions hold. */
  get sizeInBytes(): number {
    let size = this.inlet.scheduledSizeInBytes;
    for (const { queue } of this.subscriptions.values()) size += queue.sizeInBytes;
    return size;
  }

  /** Adds a subscription, or replaces the one of that name; it gets what is sent from now on. */
  addSubscription(name: string, { queue, rules }: SubscriptionSettings): Subscription {
    const subscribed = new Queue(this.#engine, `${this.path}/Subscriptions/${name}`, queue);
    const subscription = new Subscription(name, subscribed, rules);
    this.subscriptions.set(name.toLowerCase(), subscription);
    return subscription;
  }

  /** Sends a message; see {@link Inlet.send}. */
  send(content: Content, scheduledUtc?: number): SendResult {
    return this.inlet.send(content, scheduledUtc);
  }

  #distribute(message: StoredMessage): void {
    const fields = fieldsOf(message);
    for (const subscription of this.subscriptions.values()) {
      for (const properties of subscription.copiesOf(fields)) this.#copyTo(subscription.queue, message, properties);
    }
  }

  #copyTo(queue: Queue, message: StoredMessage, properties: ReadonlyMap<string, PropertyValue>): void {
    const copy = new StoredMessage(message.content, message.sequenceNumber, message.enqueuedUtc);
    copy.enqueueSequenceNumber = message.enqueueSequenceNumber;
    copy.scheduledUtc = message.scheduledUtc;
    copy.timeToLiveInMs = this.settings.defaultTimeToLiveInMs;
    copy.deadLetterSource = message.deadLetterSource;
    // A topic is a hop of its own only where a message was forwarded to it.
    copy.hops = message.hops - 1;
    copy.addProperties(message.properties);
    copy.addProperties(properties);
    queue.takeCopy(copy);
  }

  #refusal(sizeInBytes: number): Refusal | undefined {
    const { status = 'Active', maxSizeInBytes = defaultQueueSettings.maxSizeInBytes } = this.#settings;
    if (!takesSends(status)) return entityDisabled(this.path);
    const isFull = this.sizeInBytes + sizeInBytes > maxSizeInBytes;
    return isFull ? quotaExceeded(this.path, maxSizeInBytes) : undefined;
  }
}

/** The fields as they are now, with what settlements have added. Values that only the wire layer can read are left out. */
function fieldsOf({ content, properties }: StoredMessage): Fields {
  const { fields } = content;
  if (properties === undefined) return fields;
  const applicationProperties = new Map(fields.applicationProperties);
  for (const [name, value] of properties) if (!(value instanceof Uint8Array)) applicationProperties.set(name, value);
  return { ...fields, applicationProperties };
}
