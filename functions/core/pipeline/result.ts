import { sizeInBytes } from '../rules/text.ts';
import type { Passage } from './passage.ts';

const LARGEST_RESULT_BYTES = 8_192;

/** What a handler returned, as it is kept for duplicates; nothing where it returned nothing, or what cannot be kept. */
export function resultAsJson<Event>({ ports, envelope }: Passage<Event>, result: unknown): string | undefined {
  if (result === undefined) return undefined;
  let json: string | undefined;
  try {
    json = JSON.stringify(result);
  } catch {
    json = undefined;
  }
  if (json !== undefined && sizeInBytes(json) <= LARGEST_RESULT_BYTES) return json;
  const { eventId } = envelope;
  const expected = `expected JSON of at most ${LARGEST_RESULT_BYTES} bytes`;
  ports.telemetry.log('warning', `the handler's result is not kept for duplicates: ${expected}`, { eventId });
  return undefined;
}

/** What the first run returned goes to whoever wants it, as often as duplicates come. */
export async function handToDuplicate<Event>(
  { consumer, envelope, ports, invocation }: Passage<Event>,
  result: string | undefined,
): Promise<void> {
  if (result === undefined || !consumer.onDuplicate) return;
  const { eventId } = envelope;
  try {
    await consumer.onDuplicate(JSON.parse(result), { eventId, log: invocation.log });
  } catch (error) {
    ports.telemetry.log('warning', `onDuplicate failed: ${String(error)}`, { eventId });
  }
}
