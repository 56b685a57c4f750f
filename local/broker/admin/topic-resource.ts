import type { Topic } from '../model/topic.ts';
import { notFound } from './admin-error.ts';
import type { Entry } from './atom.ts';
import { countDetails } from './queue-fields.ts';
import { type AdminContext, checkNewEntity, checkUnchanged, type Resource, times, type UrlOf } from './resource.ts';
import { defaultTopicFields, topicFields, topicSettingsOf } from './topic-fields.ts';
import type { XmlElement } from './xml.ts';

/** A topic, without its subscriptions. */
export class TopicResource implements Resource {
  readonly descriptionName = 'TopicDescription';
  readonly #context: AdminContext;
  readonly #path: string;

  constructor(context: AdminContext, path: string) {
    this.#context = context;
    this.#path = path;
  }

  entry(urlOf: UrlOf): Entry {
    const topic = this.find();
    const { records, tier } = this.#context;
    const record = records.of(topic);
    const scheduled = topic.inlet.scheduled.size;
    const description = {
      ...(record.fields ?? topicFields(topic.settings, tier)),
      SizeInBytes: '0',
      ...times(record),
      SubscriptionCount: String(topic.subscriptions.size),
      CountDetails: countDetails({ active: 0, scheduled, deferred: 0, deadLetter: 0, transferDeadLetter: 0 }),
    };
    return { ...record, url: urlOf(topic.path), title: topic.path, name: this.descriptionName, description };
  }

  create(given: XmlElement): void {
    const { namespace, records, tier } = this.#context;
    checkNewEntity(this.#path, this.#context);
    const fields = { ...defaultTopicFields(tier), ...given };
    const settings = { ...topicSettingsOf(fields, tier), subscriptions: new Map() };
    records.note(namespace.addTopic(this.#path, settings), fields);
  }

  update(given: XmlElement): void {
    const { records, tier } = this.#context;
    const topic = this.find();
    const fields = { ...defaultTopicFields(tier), ...given };
    const settings = topicSettingsOf(fields, tier);
    checkUnchanged(topic.settings, settings);
    topic.update({ ...topic.settings, ...settings });
    records.note(topic, fields, topic);
  }

  remove(): void {
    this.#context.namespace.remove(this.find().path);
  }

  /** @throws AdminError when there is none */
  find(): Topic {
    const entity = this.#context.namespace.find(this.#path);
    if (entity?.kind === 'topic') return entity;
    throw notFound(this.#path);
  }
}
