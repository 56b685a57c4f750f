import { AdminError } from './admin-error.ts';
import type { DescriptionName, Entry } from './atom.ts';
import { QueueResource } from './queue-resource.ts';
import type { AdminContext, Resource, UrlOf } from './resource.ts';
import { RuleResource } from './rule-resource.ts';
import { SubscriptionResource } from './subscription-resource.ts';
import type { Target } from './target.ts';
import { TopicResource } from './topic-resource.ts';

type EntityTarget = Extract<Target, { kind: 'entity' | 'subscription' | 'rule' }>;
type ListTarget = Extract<Target, { kind: 'list' | 'subscriptions' | 'rules' }>;

/** The entity that a request is about. `described` is what a request to make it says that it is. */
export function resourceAt(target: EntityTarget, context: AdminContext, described?: DescriptionName): Resource {
  switch (target.kind) {
    case 'subscription':
      return new SubscriptionResource(context, target.topic, target.name);
    case 'rule':
      return new RuleResource(context, target.topic, target.subscription, target.name);
    case 'entity': {
      const isTopic = context.namespace.find(target.path)?.kind === 'topic';
      if (described === undefined) {
        return isTopic ? new TopicResource(context, target.path) : new QueueResource(context, target.path);
      }
      if (described === 'TopicDescription') return new TopicResource(context, target.path);
      if (described === 'QueueDescription') return new QueueResource(context, target.path);
      throw new AdminError(400, `SubCode=40000. A ${described} does not belong at '${target.path}'.`);
    }
  }
}

/** All entities of a kind, by name. */
export function entriesAt(target: ListTarget, context: AdminContext, urlOf: UrlOf): Entry[] {
  return resourcesAt(target, context)
    .map((resource) => resource.entry(urlOf))
    .sort((a, b) => (a.title < b.title ? -1 : 1));
}

function resourcesAt(target: ListTarget, context: AdminContext): Resource[] {
  const { namespace } = context;
  switch (target.kind) {
    case 'list':
      return target.of === 'queues'
        ? namespace.queues().map(({ path }) => new QueueResource(context, path))
        : namespace.topics().map(({ path }) => new TopicResource(context, path));
    case 'subscriptions': {
      const { subscriptions } = new TopicResource(context, target.topic).find();
      return [...subscriptions.values()].map(({ name }) => new SubscriptionResource(context, target.topic, name));
    }
    case 'rules': {
      const { rules } = new SubscriptionResource(context, target.topic, target.subscription).find();
      return [...rules.keys()].map((name) => new RuleResource(context, target.topic, target.subscription, name));
    }
  }
}
