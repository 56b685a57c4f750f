/** What a filter may look at in a message. Values of properties are plain JavaScript values. */
export type Fields = {
  readonly messageId?: string | undefined;
  readonly correlationId?: string | undefined;
  readonly contentType?: string | undefined;
  readonly subject?: string | undefined;
  readonly to?: string | undefined;
  readonly replyTo?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly replyToSessionId?: string | undefined;
  readonly applicationProperties: ReadonlyMap<string, unknown>;
};

/**
 * A message as its sender gave it. The model never looks into `bytes` and never changes them; what the broker adds
 * (delivery count, lock, dead-letter properties) stands beside them in {@link StoredMessage}.
 */
export interface Content {
  /** The whole message, byte for byte. */
  readonly bytes: Uint8Array;
  /** What duplicate detection compares. Equal strings mean the same id; ids of other types map to distinct strings. */
  readonly messageId: string | undefined;
  readonly sessionId: string | undefined;
  /** The sender's time to live in milliseconds; `undefined` leaves it to the entity. */
  readonly timeToLiveInMs: number | undefined;
  /** For filters and rules only; decoded when asked for. */
  readonly fields: Fields;
}

/**
 * Value of a property that a settlement or a rule adds: a plain value, or one that the wire layer has already encoded.
 * `null` takes the property away.
 */
export type PropertyValue = string | number | boolean | null | Uint8Array;

/** Application properties that a settlement adds or replaces, by name. */
export type Properties = ReadonlyMap<string, PropertyValue>;
