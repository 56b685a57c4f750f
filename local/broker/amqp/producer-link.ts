import type { Inlet } from '../model/inlet.ts';
import { binaryOf, MalformedMessageError } from './codec/encoded-value.ts';
import { SECTION, sectionsOf } from './codec/sections.ts';
import { WireMessage } from './codec/wire-message.ts';
import { type AmqpError, CONDITION, refusalError } from './conditions.ts';
import { MOST_BYTES_OF_A_BATCH, messageProblem, messageTooLarge } from './limits.ts';
import { BATCH_FORMAT, PLAIN_AS_BYTES } from './rhea-internals.ts';

/** What a send needs: where messages go and where the id of a message without one comes from. */
export type ProducerOptions = { readonly inlet: Inlet; newMessageId(): string };

/**
 * Takes in what a client's sender has transferred, one message or a batch, whole or not at all.
 *
 * @returns why it was refused, `undefined` when it was taken
 */
export function takeIn({ inlet, newMessageId }: ProducerOptions, bytes: Buffer, format: number): AmqpError | undefined {
  if (format === BATCH_FORMAT && bytes.length > MOST_BYTES_OF_A_BATCH) return messageTooLarge(MOST_BYTES_OF_A_BATCH);
  try {
    const messages = messagesIn(bytes, format)?.map((message) => WireMessage.from(message, newMessageId));
    if (messages === undefined) {
      return { condition: CONDITION.notImplemented, description: `Message format ${format} is not supported.` };
    }
    for (const message of messages) {
      const problem = messageProblem(message);
      if (problem !== undefined) return problem;
    }
    const refusal = inlet.refusalOf(messages);
    if (refusal !== undefined) return refusalError(refusal.reason, refusal.detail);
    for (const message of messages) inlet.send(message, message.scheduledUtc);
    return undefined;
  } catch (error) {
    if (error instanceof MalformedMessageError) return { condition: CONDITION.decodeError, description: error.message };
    throw error;
  }
}

function messagesIn(bytes: Buffer, format: number): Buffer[] | undefined {
  switch (format) {
    case PLAIN_AS_BYTES:
      return [bytes];
    case BATCH_FORMAT:
      return sectionsOf(bytes)
        .filter(({ code }) => code === SECTION.data)
        .map(({ value, end }) => {
          const message = binaryOf(bytes.subarray(value, end));
          if (message === undefined) throw new MalformedMessageError('A batch holds something that is not binary.');
          return message;
        });
    default:
      return undefined;
  }
}
