import type { Settlement } from '../model/outcomes.ts';
import type { StoredMessage } from '../model/stored-message.ts';
import { encodedPlain, encodedString } from './codec/encode.ts';
import { textOf } from './codec/encoded-value.ts';
import { WireMessage } from './codec/wire-message.ts';
import { type AmqpError, CONDITION } from './conditions.ts';

/** How large a request may be that is about no entity. */
export const MOST_BYTES_OF_A_REQUEST = 262_144;
/** A batch is never larger than that, however large a message may be. */
export const MOST_BYTES_OF_A_BATCH = 1024 * 1024;
const MOST_ID_CHARACTERS = 128;
const MOST_DESCRIPTION_CHARACTERS = 4096;
const MOST_BYTES_OF_ONE_PROPERTY = 32 * 1024;
const MOST_BYTES_OF_ALL_PROPERTIES = 64 * 1024;
const DESCRIPTION = 'DeadLetterErrorDescription';

/** The answer to a message that is larger than its link, or its kind, allows. */
export function messageTooLarge(mostBytes: number): AmqpError {
  const description = `The received message exceeds the limit (${mostBytes} bytes) currently allowed on the link.`;
  return { condition: CONDITION.messageTooLarge, description };
}

/** Why a message exceeds a limit of the service, if it does. Its size is judged as it comes in, by the link. */
export function messageProblem(message: WireMessage): AmqpError | undefined {
  const ids = [
    ['MessageId', message.messageId],
    ['SessionId', message.sessionId],
    ['PartitionKey', message.partitionKey],
  ] as const;
  for (const [name, id] of ids) {
    if (id !== undefined && id.length > MOST_ID_CHARACTERS) return tooLong(name, MOST_ID_CHARACTERS, 'characters');
  }
  return propertiesProblem(encodedPairs(message));
}

/** Why a settlement would exceed a limit, if it would; the message must not be changed then. */
export function settlementProblem(message: StoredMessage | undefined, settlement: Settlement): AmqpError | undefined {
  if (message === undefined || settlement.kind === 'complete' || settlement.kind === 'release') return undefined;
  const added = new Map(settlement.properties ?? []);
  if (settlement.kind === 'deadLetter') {
    if (settlement.reason !== undefined) added.set('DeadLetterReason', settlement.reason);
    if (settlement.description !== undefined) added.set(DESCRIPTION, settlement.description);
  }
  const pairs = message.content instanceof WireMessage ? encodedPairs(message.content) : new Map<string, number>();
  for (const [name, value] of [...(message.properties ?? []), ...added]) {
    if (value !== null) pairs.set(name, encodedPlain(value).length);
  }
  const description = added.get(DESCRIPTION);
  const text = description instanceof Uint8Array ? textOf(Buffer.from(description)) : description;
  if (typeof text === 'string' && text.length > MOST_DESCRIPTION_CHARACTERS) {
    return tooLong(DESCRIPTION, MOST_DESCRIPTION_CHARACTERS, 'characters');
  }
  return propertiesProblem(pairs);
}

/** Encoded sizes of the application properties by name. */
function encodedPairs(message: WireMessage): Map<string, number> {
  const items = message.encodedProperties;
  const pairs = new Map<string, number>();
  for (let index = 0; index + 1 < items.length; index += 2) {
    pairs.set(textOf(items[index] as Buffer) ?? '', (items[index + 1] as Buffer).length);
  }
  return pairs;
}

function propertiesProblem(sizes: ReadonlyMap<string, number>): AmqpError | undefined {
  let total = 0;
  for (const [name, size] of sizes) {
    if (size > MOST_BYTES_OF_ONE_PROPERTY) {
      return tooLong(`application property '${name}'`, MOST_BYTES_OF_ONE_PROPERTY, 'bytes');
    }
    total += encodedString(name).length + size;
  }
  if (total <= MOST_BYTES_OF_ALL_PROPERTIES) return undefined;
  return tooLong('sum of all application properties', MOST_BYTES_OF_ALL_PROPERTIES, 'bytes');
}

function tooLong(what: string, most: number, unit: string): AmqpError {
  return { condition: CONDITION.argumentOutOfRange, description: `The ${what} exceeds the limit of ${most} ${unit}.` };
}
