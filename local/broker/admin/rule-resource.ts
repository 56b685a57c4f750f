import type { Rule } from '../model/filter/rule.ts';
import { alreadyExists, notFound } from './admin-error.ts';
import { type Entry, instantText } from './atom.ts';
import { type AdminContext, checkChildName, type Resource, type UrlOf } from './resource.ts';
import { ruleFields, ruleOf } from './rule-fields.ts';
import { SubscriptionResource } from './subscription-resource.ts';
import type { XmlElement } from './xml.ts';

/** A rule of a subscription. */
export class RuleResource implements Resource {
  readonly descriptionName = 'RuleDescription';
  readonly #context: AdminContext;
  readonly #subscription: SubscriptionResource;
  readonly #name: string;

  constructor(context: AdminContext, topic: string, subscription: string, name: string) {
    this.#context = context;
    this.#subscription = new SubscriptionResource(context, topic, subscription);
    this.#name = name;
  }

  entry(urlOf: UrlOf): Entry {
    const rule = this.#find();
    const record = this.#context.records.of(rule);
    const url = urlOf(`${this.#subscription.find().queue.path}/Rules/${rule.name}`);
    const description = { ...ruleFields(rule), CreatedAt: instantText(record.createdUtc) };
    return { ...record, url, title: rule.name, name: this.descriptionName, description };
  }

  create(fields: XmlElement): void {
    const { rules } = this.#subscription.find();
    if (rules.has(this.#name)) throw alreadyExists(this.#name);
    checkChildName(this.#name);
    const rule = ruleOf(this.#name, fields);
    rules.set(rule.name, rule);
    this.#context.records.note(rule, fields);
  }

  update(fields: XmlElement): void {
    const before = this.#find();
    const rule = ruleOf(before.name, fields);
    this.#subscription.find().rules.set(rule.name, rule);
    this.#context.records.note(rule, fields, before);
  }

  remove(): void {
    this.#subscription.find().rules.delete(this.#find().name);
  }

  #find(): Rule {
    const rule = this.#subscription.find().rules.get(this.#name);
    if (rule === undefined) throw notFound(this.#name);
    return rule;
  }
}
