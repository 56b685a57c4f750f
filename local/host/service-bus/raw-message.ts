import type { ServiceBusReceivedMessage } from '@azure/service-bus';
import rhea from 'rhea';

const ENCODED = Symbol.for('local-host.encoded-messages');

type Decode = (buffer: Buffer) => { message_annotations?: object };
type Decoder = { decode: Decode; [ENCODED]?: WeakMap<object, Buffer> };

/**
 * From now on keeps, beside each message that rhea decodes, the bytes it was decoded from.
 *
 * The SDK gives no access to them, and decoding is not reversible: AMQP types and unknown sections are lost. It does
 * hand over the decoded annotations by reference, as long as its receiver is created with `skipConvertingDate`, and no
 * message from a broker comes without annotations. Calling it again changes nothing.
 */
export function keepEncodedMessages(): WeakMap<object, Buffer> {
  const decoder = rhea.message as unknown as Decoder;
  if (decoder[ENCODED]) return decoder[ENCODED];
  const encoded = new WeakMap<object, Buffer>();
  const decode = decoder.decode;
  decoder.decode = (buffer) => {
    const message = decode(buffer);
    if (message.message_annotations) encoded.set(message.message_annotations, buffer);
    return message;
  };
  decoder[ENCODED] = encoded;
  return encoded;
}

/**
 * The bytes the message arrived as.
 *
 * @throws Error when they were not kept: the receiver was not created with `skipConvertingDate`, or the SDK has changed.
 */
export function encodedMessage(message: ServiceBusReceivedMessage): Buffer {
  const annotations = message._rawAmqpMessage.messageAnnotations;
  const bytes = annotations && keepEncodedMessages().get(annotations);
  if (!bytes)
    throw new Error('The bytes of the message were not kept. Expected the pinned @azure/service-bus and rhea.');
  return bytes;
}
