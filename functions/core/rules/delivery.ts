/** The AMQP 1.0 types that a property value can have on the wire. */
export type AmqpType =
  | 'null'
  | 'boolean'
  | 'ubyte'
  | 'ushort'
  | 'uint'
  | 'ulong'
  | 'byte'
  | 'short'
  | 'int'
  | 'long'
  | 'float'
  | 'double'
  | 'decimal'
  | 'char'
  | 'timestamp'
  | 'uuid'
  | 'binary'
  | 'string'
  | 'symbol'
  | 'other';

/**
 * One application property with the type it had on the wire. `long` and `ulong` are bigint, `timestamp` is epoch
 * milliseconds, `uuid` is its 36-character form, `char` is a string, `binary`, `decimal` and `other` are bytes.
 */
export interface PropertyValue {
  readonly type: AmqpType;
  readonly value: string | number | bigint | boolean | null | Uint8Array;
}

/** An int: what the counts in our own properties are. */
export const int = (value: number): PropertyValue => ({ type: 'int', value });
/** A string property. */
export const string = (value: string): PropertyValue => ({ type: 'string', value });

/**
 * The body as the producer sent it. `data` holds the bytes of all its data sections in a row. A value or sequence that
 * is text or bytes has those as `bytes`; any other has none, and only `value` shows it.
 */
export type Body =
  | { readonly kind: 'data'; readonly bytes: Uint8Array }
  | { readonly kind: 'value' | 'sequence'; readonly bytes: Uint8Array | undefined; readonly value: unknown }
  | { readonly kind: 'absent' }
  /** An AMQP value that contradicts itself, or is nested beyond measure; a copy carries its bytes all the same. */
  | { readonly kind: 'unreadable'; readonly problem: string };

/** One hand-over of a message by the broker, under a lock. Instants are epoch milliseconds on the broker's clock. */
export interface Delivery {
  /** Path of the queue it came from. */
  readonly entity: string;
  /** A distinct, stable string for ids of every type; empty where the sender set none. */
  readonly messageId: string;
  /** Exact decimal: sequence numbers pass 2^53. */
  readonly sequenceNumber: string;
  readonly enqueuedUtc: number;
  readonly lockedUntilUtc: number | undefined;
  /** Counts from 1. */
  readonly deliveryCount: number;
  /** The broker's lock, a uuid; new at each delivery. */
  readonly lockToken: string;
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
  readonly sessionId: string | undefined;
  /** When the message expires: enqueued time plus its own time to live; absent where it has none. */
  readonly expiresUtc: number | undefined;
  readonly body: Body;
  /** Application properties; keys that differ in case are different keys. */
  readonly properties: ReadonlyMap<string, PropertyValue>;
  /** The whole AMQP message as received, from which a copy is cut. */
  readonly raw: Uint8Array;
}
