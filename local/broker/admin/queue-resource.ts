import type { Queue } from '../model/queue.ts';
import { notFound } from './admin-error.ts';
import type { Entry } from './atom.ts';
import { countDetails, defaultQueueFields, messageCount, queueFields, queueSettingsOf } from './queue-fields.ts';
import {
  type AdminContext,
  checkForwards,
  checkNewEntity,
  checkUnchanged,
  type Resource,
  times,
  type UrlOf,
} from './resource.ts';
import type { XmlElement } from './xml.ts';

/** A queue that stands alone. */
export class QueueResource implements Resource {
  readonly descriptionName = 'QueueDescription';
  readonly #context: AdminContext;
  readonly #path: string;

  constructor(context: AdminContext, path: string) {
    this.#context = context;
    this.#path = path;
  }

  entry(urlOf: UrlOf): Entry {
    const queue = this.#find();
    const { records, tier } = this.#context;
    const record = records.of(queue);
    const counts = queue.counts();
    const description = {
      ...(record.fields ?? queueFields(queue.settings, tier)),
      SizeInBytes: String(queue.sizeInBytes),
      MessageCount: messageCount(counts),
      ...times(record),
      CountDetails: countDetails(counts),
    };
    return { ...record, url: urlOf(queue.path), title: queue.path, name: this.descriptionName, description };
  }

  create(given: XmlElement): void {
    const { namespace, records, tier } = this.#context;
    checkNewEntity(this.#path, this.#context);
    const fields = { ...defaultQueueFields(tier), ...given };
    const settings = queueSettingsOf(fields, tier);
    checkForwards(this.#path, settings, this.#context);
    records.note(namespace.addQueue(this.#path, settings), fields);
  }

  update(given: XmlElement): void {
    const { records, tier } = this.#context;
    const queue = this.#find();
    const fields = { ...defaultQueueFields(tier), ...given };
    const settings = queueSettingsOf(fields, tier);
    checkForwards(this.#path, settings, this.#context);
    checkUnchanged(queue.settings, settings);
    queue.update(settings);
    records.note(queue, fields, queue);
  }

  remove(): void {
    this.#context.namespace.remove(this.#find().path);
  }

  #find(): Queue {
    const { namespace } = this.#context;
    const entity = namespace.find(this.#path);
    const isQueue = entity?.kind === 'queue' && entity.deadLetterQueue !== undefined;
    if (isQueue && namespace.findSubscription(this.#path) === undefined) return entity;
    throw notFound(this.#path);
  }
}
