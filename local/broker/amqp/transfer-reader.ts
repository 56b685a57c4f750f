/** A transfer frame with the names that rhea gives its parts. `undefined` where the client said nothing. */
export type TransferFrame = {
  readonly channel: number;
  readonly performative: {
    handle: number | undefined;
    delivery_id: number | undefined;
    delivery_tag: Buffer | undefined;
    message_format: number | undefined;
    settled: boolean | undefined;
    more: boolean | undefined;
  };
  readonly payload: Buffer;
};

/** Length, no extended header, AMQP, channel, transfer, and the constructor of the list of its fields. */
const HEAD_LENGTH = 12;
const NARROW_LIST = 0xc0;
const WIDE_LIST = 0xd0;
const WIDE_LIST_HEAD = 8;
/** What comes after them is rare: settle mode, state, resume, aborted, batchable. */
const MOST_FIELDS = 6;

/**
 * Reads the frame at `start` if it is a transfer as nearly all are: short fields, nothing unusual (AMQP 1.0, 2.7.5).
 *
 * @param size what the frame says of its length; so many bytes are there
 * @returns `undefined` for any other frame, a malformed one too, for rhea to read
 */
export function readTransfer(bytes: Buffer, start: number, size: number): TransferFrame | undefined {
  const list = start + HEAD_LENGTH;
  if (size < HEAD_LENGTH + WIDE_LIST_HEAD || !isTransfer(bytes, start)) return undefined;
  const code = bytes[list - 1];
  if (code !== NARROW_LIST && code !== WIDE_LIST) return undefined;
  const width = code === WIDE_LIST ? 4 : 1;
  const end = list + width + bytes.readUIntBE(list, width);
  const count = bytes.readUIntBE(list + width, width);
  if (end >= start + size || count > MOST_FIELDS) return undefined;
  const fields = new FieldReader(bytes, list + 2 * width, count);
  const performative = {
    handle: fields.uint(),
    delivery_id: fields.uint(),
    delivery_tag: fields.binary(),
    message_format: fields.uint(),
    settled: fields.boolean(),
    more: fields.boolean(),
  };
  if (fields.isUnusual || fields.position !== end) return undefined;
  return { channel: bytes.readUInt16BE(start + 6), performative, payload: bytes.subarray(end, start + size) };
}

function isTransfer(bytes: Buffer, start: number): boolean {
  const hasPlainHeader = bytes[start + 4] === 2 && bytes[start + 5] === 0;
  return hasPlainHeader && bytes[start + 8] === 0x00 && bytes[start + 9] === 0x53 && bytes[start + 10] === 0x14;
}

/** Reads the fields of a list in turn; those that were left out, and nulls, are `undefined`. */
class FieldReader {
  /** Whether there was a field of a type that is not expected there. */
  isUnusual = false;
  position: number;
  readonly #bytes: Buffer;
  #left: number;

  constructor(bytes: Buffer, position: number, count: number) {
    this.#bytes = bytes;
    this.position = position;
    this.#left = count;
  }

  uint(): number | undefined {
    switch (this.#code()) {
      case 0x40:
        return undefined;
      case 0x43:
        return 0;
      case 0x52:
        return this.#bytes[this.position++];
      case 0x70:
        if (this.position + 4 > this.#bytes.length) return this.#unusual();
        this.position += 4;
        return this.#bytes.readUInt32BE(this.position - 4);
      default:
        return this.#unusual();
    }
  }

  boolean(): boolean | undefined {
    switch (this.#code()) {
      case 0x40:
        return undefined;
      case 0x41:
        return true;
      case 0x42:
        return false;
      default:
        return this.#unusual();
    }
  }

  binary(): Buffer | undefined {
    switch (this.#code()) {
      case 0x40:
        return undefined;
      case 0xa0: {
        const start = this.position + 1;
        this.position = start + (this.#bytes[this.position] ?? 0);
        return this.#bytes.subarray(start, this.position);
      }
      default:
        return this.#unusual();
    }
  }

  #code(): number {
    if (this.#left === 0) return 0x40;
    this.#left--;
    return this.#bytes[this.position++] ?? 0;
  }

  #unusual(): undefined {
    this.isUnusual = true;
    return undefined;
  }
}
