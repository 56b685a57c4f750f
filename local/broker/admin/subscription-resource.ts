import { defaultRule, type Rule } from '../model/filter/rule.ts';
import type { Subscription } from '../model/topic.ts';
import { alreadyExists, notFound } from './admin-error.ts';
import type { Entry } from './atom.ts';
import {
  countDetails,
  defaultSubscriptionFields,
  messageCount,
  subscriptionFields,
  subscriptionSettingsOf,
} from './queue-fields.ts';
import {
  type AdminContext,
  checkChildName,
  checkForwards,
  checkUnchanged,
  type Resource,
  times,
  type UrlOf,
} from './resource.ts';
import { ruleOf } from './rule-fields.ts';
import { TopicResource } from './topic-resource.ts';
import { childOf, textOf, type XmlElement } from './xml.ts';

/** A subscription of a topic. */
export class SubscriptionResource implements Resource {
  readonly descriptionName = 'SubscriptionDescription';
  readonly #context: AdminContext;
  readonly #topic: TopicResource;
  readonly #name: string;

  constructor(context: AdminContext, topic: string, name: string) {
    this.#context = context;
    this.#topic = new TopicResource(context, topic);
    this.#name = name;
  }

  entry(urlOf: UrlOf): Entry {
    const { name, queue } = this.find();
    const { records, tier } = this.#context;
    const record = records.of(queue);
    const counts = queue.counts();
    const description = {
      ...(record.fields ?? subscriptionFields(queue.settings, tier)),
      MessageCount: messageCount(counts),
      ...times(record),
      CountDetails: countDetails(counts),
    };
    return { ...record, url: urlOf(queue.path), title: name, name: this.descriptionName, description };
  }

  create(given: XmlElement): void {
    const { namespace, records, tier } = this.#context;
    const topic = this.#topic.find();
    if (topic.subscriptions.has(this.#name.toLowerCase())) throw alreadyExists(this.#name);
    checkChildName(this.#name);
    const { DefaultRuleDescription: _rule, ...rest } = given;
    const fields = { ...defaultSubscriptionFields(tier), ...rest };
    const queue = subscriptionSettingsOf(fields, tier);
    checkForwards(topic.path, queue, this.#context);
    const rules = [firstRule(given)];
    records.note(namespace.addSubscription(topic, this.#name, { queue, rules }).queue, fields);
  }

  update(given: XmlElement): void {
    const { records, tier } = this.#context;
    const { queue } = this.find();
    const { DefaultRuleDescription: _rule, ...rest } = given;
    const fields = { ...defaultSubscriptionFields(tier), ...rest };
    const settings = subscriptionSettingsOf(fields, tier);
    checkForwards(this.#topic.find().path, settings, this.#context);
    checkUnchanged(queue.settings, settings);
    queue.update(settings);
    records.note(queue, fields, queue);
  }

  remove(): void {
    this.#context.namespace.remove(this.find().queue.path);
  }

  /** @throws AdminError when there is none */
  find(): Subscription {
    const subscription = this.#topic.find().subscriptions.get(this.#name.toLowerCase());
    if (subscription === undefined) throw notFound(this.#name);
    return subscription;
  }
}

function firstRule(given: XmlElement): Rule {
  const description = childOf(given, 'DefaultRuleDescription');
  if (description === undefined) return defaultRule;
  return ruleOf(textOf(description, 'Name') ?? defaultRule.name, description);
}
