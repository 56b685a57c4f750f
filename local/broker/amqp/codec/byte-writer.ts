const FIRST_SIZE = 4096;
const COMPOUND_HEAD = 9;

/**
 * Writes encoded AMQP values one behind another into memory of its own that it uses again and again: every message that
 * is delivered is put together here, and a small buffer for each value would cost more than the message.
 */
export class ByteWriter {
  #bytes = Buffer.allocUnsafe(FIRST_SIZE);
  #length = 0;

  /** Starts anew. What {@link ByteWriter.copy} gave out stays as it is. */
  reset(): void {
    this.#length = 0;
  }

  /** Writes bytes that are encoded already. */
  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** The descriptor of a message section; its value follows. */
  section(code: number): void {
    this.#reserve(3);
    this.#bytes[this.#length++] = 0x00;
    this.#bytes[this.#length++] = 0x53;
    this.#bytes[this.#length++] = code;
  }

  null(): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = 0x40;
  }

  uint(value: number): void {
    this.#reserve(5);
    this.#bytes[this.#length] = 0x70;
    this.#bytes.writeUInt32BE(value, this.#length + 1);
    this.#length += 5;
  }

  int(value: number): void {
    this.#reserve(5);
    this.#bytes[this.#length] = 0x71;
    this.#bytes.writeInt32BE(value, this.#length + 1);
    this.#length += 5;
  }

  /** A 64-bit signed integer; `value` must be a safe integer. */
  long(value: number): void {
    this.#wide(0x81, value);
  }

  /** An instant in epoch milliseconds. */
  timestamp(valueUtc: number): void {
    this.#wide(0x83, valueUtc);
  }

  /** @returns what {@link ByteWriter.end} needs once the items are written */
  beginList(): number {
    return this.#begin(0xd0);
  }

  /** @returns what {@link ByteWriter.end} needs once keys and values are written in turn */
  beginMap(): number {
    return this.#begin(0xd1);
  }

  /** Closes a list or a map that holds `count` items; a map's keys and values count one by one. */
  end(start: number, count: number): void {
    this.#bytes.writeUInt32BE(this.#length - start - COMPOUND_HEAD + 4, start + 1);
    this.#bytes.writeUInt32BE(count, start + 5);
  }

  /** Everything written since the start. */
  copy(): Buffer {
    const copy = Buffer.allocUnsafe(this.#length);
    this.#bytes.copy(copy, 0, 0, this.#length);
    return copy;
  }

  #begin(code: number): number {
    const start = this.#length;
    this.#reserve(COMPOUND_HEAD);
    this.#bytes[start] = code;
    this.#length += COMPOUND_HEAD;
    return start;
  }

  #wide(code: number, value: number): void {
    this.#reserve(9);
    const high = Math.floor(value / 2 ** 32);
    this.#bytes[this.#length] = code;
    this.#bytes.writeInt32BE(high, this.#length + 1);
    this.#bytes.writeUInt32BE(value - high * 2 ** 32, this.#length + 5);
    this.#length += 9;
  }

  #reserve(size: number): void {
    if (this.#length + size <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.#length + size));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
