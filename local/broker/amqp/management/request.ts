import { uuidText } from '../codec/lock-token.ts';
import { SECTION, sectionsOf } from '../codec/sections.ts';
import { CONDITION } from '../conditions.ts';
import { decodedMessage, typedValue, type WireValue } from '../wire-values.ts';
import { ManagementError } from './reply.ts';

/** A management request, its fields read with a check: a wrong one is refused by name, never guessed at. */
export class ManagementRequest {
  readonly operation: string;
  readonly id: unknown;
  readonly replyTo: string | undefined;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly #body: Readonly<Record<string, unknown>>;
  readonly #bytes: Buffer;

  /** @throws MalformedMessageError when the bytes are not an AMQP message */
  constructor(bytes: Buffer) {
    const message = decodedMessage(bytes);
    this.#bytes = bytes;
    this.properties = (message['application_properties'] ?? {}) as Record<string, unknown>;
    this.operation = String(this.properties['operation'] ?? '');
    this.id = message['message_id'];
    this.replyTo = typeof message['reply_to'] === 'string' ? message['reply_to'] : undefined;
    const body = message['body'];
    this.#body = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  }

  has(name: string): boolean {
    return this.#body[name] !== undefined && this.#body[name] !== null;
  }

  text(name: string): string {
    const value = this.#body[name];
    return typeof value === 'string' ? value : this.#refuse(name, 'a string');
  }

  optionalText(name: string): string | undefined {
    return this.has(name) ? this.text(name) : undefined;
  }

  binary(name: string): Buffer | undefined {
    const value = this.#body[name];
    if (value === undefined || value === null) return undefined;
    return Buffer.isBuffer(value) ? value : this.#refuse(name, 'binary');
  }

  integer(name: string): number {
    return integerOf(this.#body[name]) ?? this.#refuse(name, 'an integer');
  }

  instant(name: string): number {
    const value = this.#body[name];
    return value instanceof Date ? value.getTime() : this.#refuse(name, 'a timestamp');
  }

  integers(name: string): number[] {
    return this.#list(name).map((item) => integerOf(item) ?? this.#refuse(name, 'a list of integers'));
  }

  uuids(name: string): string[] {
    return this.#list(name).map((item) =>
      Buffer.isBuffer(item) && item.length === 16 ? uuidText(item) : this.#refuse(name, 'a list of uuids'),
    );
  }

  maps(name: string): Record<string, unknown>[] {
    return this.#list(name).map((item) =>
      typeof item === 'object' && item !== null
        ? (item as Record<string, unknown>)
        : this.#refuse(name, 'a list of maps'),
    );
  }

  map(name: string): Record<string, unknown> | undefined {
    const value = this.#body[name];
    if (value === undefined || value === null) return undefined;
    return typeof value === 'object' ? (value as Record<string, unknown>) : this.#refuse(name, 'a map');
  }

  /** The field with the types of its values. */
  typed(name: string): WireValue | undefined {
    const section = sectionsOf(this.#bytes).find(({ code }) => code === SECTION.value);
    if (section === undefined) return undefined;
    const { value: items } = typedValue(this.#bytes.subarray(section.value, section.end)) as unknown as {
      value: { value: unknown }[];
    };
    const index = items.findIndex(({ value }, place) => place % 2 === 0 && value === name);
    return index < 0 ? undefined : (items[index + 1] as unknown as WireValue);
  }

  #list(name: string): unknown[] {
    const value = this.#body[name];
    return Array.isArray(value) ? value : this.#refuse(name, 'a list');
  }

  #refuse(name: string, expected: string): never {
    const text = `The field '${name}' of ${this.operation} must be ${expected}.`;
    throw new ManagementError(400, CONDITION.argument, text);
  }
}

/** A 64-bit integer that is too large for a number arrives as bytes. */
function integerOf(value: unknown): number | undefined {
  if (Number.isSafeInteger(value)) return value as number;
  if (Buffer.isBuffer(value) && value.length === 8) return Number(value.readBigInt64BE());
  return undefined;
}
