import type { ServiceBusClient, ServiceBusMessageBatch, ServiceBusSender } from '@azure/service-bus';
import { SendError, type SendErrorCode, type Sender } from '../../pipeline/ports.ts';
import type { Delivery } from '../../rules/delivery.ts';
import type { Copy } from '../../rules/redelivery.ts';
import { STANDARD_MESSAGE_BYTES } from '../../rules/room.ts';
import { encodeBatchOfOne, encodeCopy } from './copy-to-amqp.ts';

/** No batch may be larger, in any tier (the service's quotas page); a batch is what a copy is sent as. */
const LARGEST_BATCH_BYTES = 1_024 * 1_024;
/** The most that the batch adds around a copy: message id, session and partition key, of 128 characters each, and heads. */
const ENVELOPE_BYTES = 2_048;

/** A {@link Sender} that can also prove, at start, that its link opens. */
export interface CopySender extends Sender {
  /** What is left for a copy of the largest message that the link takes. */
  readonly maxMessageInBytes: number;
  /** Opens the sender link. @throws SendError in one line */
  open(): Promise<void>;
}

/**
 * Sends copies to one queue on a link that stays open for the life of the process; the SDK opens it anew after a
 * fault, and repeats a send for a few seconds.
 */
export function copySender(client: ServiceBusClient, queue: string): CopySender {
  let link: ServiceBusSender | undefined;
  let linkMaxInBytes = STANDARD_MESSAGE_BYTES;
  const sender = (): ServiceBusSender => {
    if (!link || link.isClosed) link = client.createSender(queue);
    return link;
  };
  return {
    get maxMessageInBytes() {
      return Math.min(linkMaxInBytes, LARGEST_BATCH_BYTES) - ENVELOPE_BYTES;
    },
    async open() {
      try {
        linkMaxInBytes = (await sender().createMessageBatch()).maxSizeInBytes;
      } catch (error) {
        throw translated(error, queue);
      }
    },
    async send(delivery, copy) {
      const encoded = encode(delivery, copy, queue);
      try {
        await sender().sendMessages(batchOf(encoded));
      } catch (error) {
        throw translated(error, queue);
      }
    },
  };
}

function encode({ raw }: Delivery, copy: Copy, queue: string): Buffer {
  try {
    const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
    return encodeBatchOfOne(encodeCopy(bytes, copy), copy.messageId);
  } catch (error) {
    throw new SendError('refused', `a copy for ${queue} cannot be encoded: ${String(error)}`, { cause: error });
  }
}

/**
 * The SDK re-encodes every message it is given, and loses types on the way: a uuid becomes a map, a double 3.0 an
 * integer. A batch it takes as it is, already encoded; so this is a batch of one. What it reads of a batch is these
 * members, held by the tests that compare bytes at the broker.
 */
function batchOf(encoded: Buffer): ServiceBusMessageBatch {
  const batch: ServiceBusMessageBatch & { _generateMessage(): Buffer; _messageSpanContexts: [] } = {
    sizeInBytes: encoded.length,
    count: 1,
    maxSizeInBytes: encoded.length,
    tryAddMessage: () => false,
    _generateMessage: () => encoded,
    _messageSpanContexts: [],
  };
  return batch;
}

/**
 * How the service refuses a message for what it is. The SDK has no code for that but `GeneralError`, its message led by the
 * name of the service's condition.
 */
const REFUSALS = /^(InvalidOperation|Argument|ArgumentOutOfRange|InvalidField|Decode)Error:/;

function codeOf(code: unknown, message: string): SendErrorCode {
  if (code === 'MessageSizeExceeded') return 'tooLarge';
  return code === 'GeneralError' && REFUSALS.test(message) ? 'refused' : 'unavailable';
}

function translated(error: unknown, queue: string): SendError {
  // Of several tries the SDK throws all errors, in an aggregate that has neither code nor message.
  const last = error instanceof AggregateError ? error.errors.at(-1) : error;
  const { code, message } = last as { code?: unknown; message?: unknown };
  const line = `sending to ${queue}: ${String(code ?? 'error')}: ${String(message)}`;
  return new SendError(codeOf(code, String(message)), line, { cause: error });
}
