import type { Clock } from './clock.ts';
import { Engine } from './engine.ts';
import { Queue } from './queue.ts';
import type { QueueSettings } from './queue-settings.ts';
import { type Subscription, type SubscriptionSettings, Topic, type TopicSettings } from './topic.ts';

const SUBSCRIPTION_PATH = /^(.*)\/subscriptions\/([^/]+)$/i;

/** What an address can name. */
export type Entity = Queue | Topic;

/** What a namespace is made of. */
export type NamespaceOptions = {
  readonly clock: Clock;
  /** Queues by path. */
  readonly queues: ReadonlyMap<string, QueueSettings>;
  /** Topics by path. */
  readonly topics?: ReadonlyMap<string, TopicSettings>;
  /** Where lock tokens come from: each a new UUID in its text form. Default: a counter, the same in every run. */
  readonly newLockToken?: () => string;
};

/**
 * The entity model: all entities of one namespace, with no I/O and no timer of its own. Whoever owns it calls
 * {@link Namespace.advance} when {@link Namespace.nextDueInMs} has passed. Every operation also brings the namespace to
 * the present first, so answers are right even when the owner is late; being late only delays the watchers.
 */
export class Namespace {
  readonly #engine: Engine;
  readonly #entities = new Map<string, Entity>();
  readonly #removedListeners = new Set<(path: string) => void>();
  readonly #updatedListeners = new Set<(entity: Entity) => void>();

  constructor({ clock, queues, topics = new Map(), newLockToken = countingTokens() }: NamespaceOptions) {
    this.#engine = new Engine(clock, newLockToken, (path) => this.find(path)?.inlet);
    this.#engine.onUpdated = (path) => {
      const entity = this.find(path);
      if (entity !== undefined) for (const listener of this.#updatedListeners) listener(entity);
    };
    for (const [path, settings] of queues) this.addQueue(path, settings);
    for (const [path, settings] of topics) this.addTopic(path, settings);
  }

  /** Queues that stand alone, in the order in which they were added. */
  queues(): Queue[] {
    return this.#main('queue').filter(({ path }) => this.findSubscription(path) === undefined);
  }

  /** Topics, in the order in which they were added. */
  topics(): Topic[] {
    return this.#main('topic');
  }

  /** Adds a queue; the path must be free. */
  addQueue(path: string, settings: QueueSettings): Queue {
    const queue = new Queue(this.#engine, path, settings);
    this.#register(queue);
    return queue;
  }

  /** Adds a topic with its subscriptions; the path must be free. */
  addTopic(path: string, settings: TopicSettings): Topic {
    const topic = new Topic(this.#engine, path, settings);
    this.#entities.set(path.toLowerCase(), topic);
    for (const { queue } of topic.subscriptions.values()) this.#register(queue);
    return topic;
  }

  /** Adds a subscription to a topic; the name must be free. */
  addSubscription(topic: Topic, name: string, settings: SubscriptionSettings): Subscription {
    const subscription = topic.addSubscription(name, settings);
    this.#register(subscription.queue);
    return subscription;
  }

  /**
   * Removes a queue, a topic with its subscriptions, or a subscription, with all that it holds, and tells the listeners
   * of {@link Namespace.onRemoved}; `false` when nothing has that path.
   */
  remove(path: string): boolean {
    const entity = this.find(path);
    if (entity === undefined) return false;
    if (entity.kind === 'topic') {
      for (const { queue } of [...entity.subscriptions.values()]) this.remove(queue.path);
      this.#unregister(entity.path);
      entity.update({ ...entity.settings, status: 'Disabled' });
      entity.inlet.clear();
      return true;
    }
    const [, topic = '', name = ''] = SUBSCRIPTION_PATH.exec(entity.path) ?? [];
    const parent = this.find(topic);
    if (parent?.kind === 'topic') parent.subscriptions.delete(name.toLowerCase());
    for (const one of [entity, entity.deadLetterQueue, entity.transferDeadLetterQueue]) {
      if (one !== undefined) this.#unregister(one.path);
    }
    // A send that is on its way must not vanish in an entity that nobody can reach.
    entity.update({ ...entity.settings, status: 'Disabled' });
    entity.clear();
    return true;
  }

  /**
   * Calls `listener` with the path of whatever is removed: each entity, and each of its dead-letter queues.
   *
   * @returns ends the calls
   */
  onRemoved(listener: (path: string) => void): () => void {
    this.#removedListeners.add(listener);
    return () => this.#removedListeners.delete(listener);
  }

  /**
   * Calls `listener` with whatever was changed, each queue with its dead-letter queues.
   *
   * @returns ends the calls
   */
  onUpdated(listener: (entity: Entity) => void): () => void {
    this.#updatedListeners.add(listener);
    return () => this.#updatedListeners.delete(listener);
  }

  /**
   * A queue, subscription or dead-letter queue by its path, without regard to case.
   *
   * @throws Error when there is none
   */
  queue(path: string): Queue {
    const entity = this.find(path);
    if (entity?.kind === 'queue') return entity;
    throw new Error(`The namespace has no queue '${path}'.`);
  }

  /**
   * A topic by its path, without regard to case.
   *
   * @throws Error when there is none
   */
  topic(path: string): Topic {
    const entity = this.find(path);
    if (entity?.kind === 'topic') return entity;
    throw new Error(`The namespace has no topic '${path}'.`);
  }

  /** Whatever has that path, without regard to case; `undefined` when nothing has. */
  find(path: string): Entity | undefined {
    return this.#entities.get(path.toLowerCase());
  }

  /** The subscription whose queue has that path, without regard to case. */
  findSubscription(path: string): Subscription | undefined {
    const [, topic = '', name = ''] = SUBSCRIPTION_PATH.exec(path) ?? [];
    const entity = this.find(topic);
    return entity?.kind === 'topic' ? entity.subscriptions.get(name.toLowerCase()) : undefined;
  }

  /** Lets everything happen that is due at present: enqueue times, ends of locks, expiries. */
  advance(): void {
    this.#engine.catchUp();
  }

  /** Milliseconds until {@link Namespace.advance} has something to do; `Infinity` when it never will. */
  nextDueInMs(): number {
    return this.#engine.nextDueInMs();
  }

  /**
   * Calls `listener` whenever {@link Namespace.nextDueInMs} has become shorter by more than the passing of time. There is
   * one listener: whoever owns the namespace.
   *
   * @returns ends the calls
   */
  onEarlierDue(listener: () => void): () => void {
    this.#engine.timers.onEarlier = listener;
    return () => {
      this.#engine.timers.onEarlier = () => {};
    };
  }

  #main<Kind extends Entity['kind']>(kind: Kind): Extract<Entity, { kind: Kind }>[] {
    return [...this.#entities.values()].filter(
      (entity): entity is Extract<Entity, { kind: Kind }> =>
        entity.kind === kind && (entity.kind === 'topic' || entity.deadLetterQueue !== undefined),
    );
  }

  #unregister(path: string): void {
    this.#entities.delete(path.toLowerCase());
    for (const listener of this.#removedListeners) listener(path);
  }

  #register(queue: Queue): void {
    for (const one of [queue, queue.deadLetterQueue, queue.transferDeadLetterQueue]) {
      if (one !== undefined) this.#entities.set(one.path.toLowerCase(), one);
    }
  }
}

function countingTokens(): () => string {
  let count = 0;
  return () => `00000000-0000-4000-8000-${(++count).toString(16).padStart(12, '0')}`;
}
