import { sizeInBytes } from '../rules/text.ts';
import { type Passage, timesOf } from './passage.ts';

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

/**
 * What the first run returned goes to whoever wants it, as often as duplicates come. The event is done whatever comes of
 * that, so it is waited for no longer than for a handler, and the duplicate still ends under its lock.
 */
export async function handToDuplicate<Event>(passage: Passage<Event>, result: string | undefined): Promise<void> {
  const { consumer, envelope, ports, invocation } = passage;
  if (result === undefined || !consumer.onDuplicate) return;
  const { eventId } = envelope;
  const { timeoutInMs } = timesOf(passage);
  const ended = new AbortController();
  const timeIsUp = new AbortController();
  const signal = AbortSignal.any([timeIsUp.signal, invocation.stopping]);
  try {
    await Promise.race([
      consumer.onDuplicate(JSON.parse(result), { eventId, signal, log: invocation.log }),
      ports.clock.sleep(timeoutInMs, AbortSignal.any([ended.signal, invocation.stopping])).then(() => {
        if (ended.signal.aborted) return;
        timeIsUp.abort(new DOMException('the time for this duplicate is up', 'TimeoutError'));
        throw new Error(`not ended within ${timeoutInMs} ms, or before the stop`);
      }),
    ]);
  } catch (error) {
    ports.telemetry.log('warning', `onDuplicate failed: ${String(error)}`, { eventId });
  } finally {
    ended.abort();
  }
}
