import type { XmlElement } from './xml.ts';

/** What the API keeps of an entity beyond the model. */
export type Record = {
  readonly createdUtc: number;
  readonly updatedUtc: number;
  /** Fields as they were asked for; `undefined` for an entity that was made in another way. */
  readonly fields: XmlElement | undefined;
};

/** Records by entity: whatever replaces a removed entity under its name is another one. */
export class Records {
  readonly #byEntity = new WeakMap<object, Record>();
  readonly #now: () => number;
  readonly #startUtc: number;

  constructor(now: () => number) {
    this.#now = now;
    this.#startUtc = now();
  }

  of(entity: object): Record {
    return this.#byEntity.get(entity) ?? { createdUtc: this.#startUtc, updatedUtc: this.#startUtc, fields: undefined };
  }

  /** Notes that an entity was made, or changed from what `before` was. */
  note(entity: object, fields: XmlElement, before?: object): void {
    const nowUtc = this.#now();
    const createdUtc = before === undefined ? nowUtc : this.of(before).createdUtc;
    this.#byEntity.set(entity, { createdUtc, updatedUtc: nowUtc, fields });
  }
}
