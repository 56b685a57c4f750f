import rhea, { type Typed } from 'rhea';
import { MalformedMessageError } from './codec/encoded-value.ts';

/** An AMQP value with its type, as rhea reads it from the wire. */
export type WireValue = Typed;

type Encoder = { write(value: unknown): void; toBuffer(): Buffer };
const types = rhea.types as unknown as {
  Reader: new (bytes: Buffer) => { read(): WireValue };
  Writer: new () => Encoder;
  unwrap(value: unknown): unknown;
};

/**
 * Reads one encoded value; types that JavaScript lacks become what comes nearest.
 *
 * @throws MalformedMessageError when the bytes are no AMQP value
 */
export function decodedValue(bytes: Buffer): unknown {
  return types.unwrap(typedValue(bytes));
}

/**
 * Reads one encoded value and keeps its type.
 *
 * @throws MalformedMessageError when the bytes are no AMQP value
 */
export function typedValue(bytes: Buffer): WireValue {
  try {
    return new types.Reader(bytes).read();
  } catch (error) {
    throw new MalformedMessageError(error instanceof Error ? error.message : String(error));
  }
}

/**
 * Reads a whole message; types that JavaScript lacks become what comes nearest.
 *
 * @throws MalformedMessageError when the bytes are no AMQP message
 */
export function decodedMessage(bytes: Buffer): Record<string, unknown> {
  try {
    return rhea.message.decode(bytes) as unknown as Record<string, unknown>;
  } catch (error) {
    throw new MalformedMessageError(error instanceof Error ? error.message : String(error));
  }
}

/** A value that rhea has read, back in the bytes it came from. */
export function encodedValue(value: WireValue): Buffer {
  const writer = new types.Writer();
  writer.write(value);
  return Buffer.from(writer.toBuffer());
}
