import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceBusClient, ServiceBusReceivedMessage, ServiceBusReceiver } from '@azure/service-bus';
import { peekAll } from '../../local/scenario/peek-all.ts';

export interface SmokeOptions {
  readonly client: ServiceBusClient;
  readonly queue: string;
  /** Names the two events; nothing else in the queue may be named so. */
  readonly id: string;
  /** The body of the event that succeeds. Its handler runs, with all that it does. */
  readonly body: Buffer;
  /** How long both may take together, in ms. */
  readonly timeoutInMs: number;
  readonly say: (line: string) => void;
}

const PAGE = 250;
const POLL_IN_MS = 500;
/** How many dead letters of others are moved aside at most to get at our own. */
const ROUNDS = 20;
/** No JSON: it is dead-lettered before any handler sees it. */
const MALFORMED = Buffer.from('{"smoke": ');

/**
 * Sends an event that succeeds and one that must be dead-lettered, waits for both, and removes the dead letter.
 *
 * @returns what is not as it must be, a line each
 */
export async function runSmoke({ client, queue, id, body, timeoutInMs, say }: SmokeOptions): Promise<string[]> {
  const good = `${id}-good`;
  const bad = `${id}-bad`;
  const live = client.createReceiver(queue, { skipParsingBodyAsJson: true });
  const dead = client.createReceiver(queue, { skipParsingBodyAsJson: true, subQueueType: 'deadLetter' });
  const sender = client.createSender(queue);
  try {
    const contentType = 'application/json';
    await sender.sendMessages([
      { messageId: good, body, contentType },
      { messageId: bad, body: MALFORMED, contentType },
    ]);
    say(`sent ${good} and ${bad} to ${queue}`);

    const waiting = new Set([good, bad]);
    const letters = new Map<string, string>();
    const giveUpAt = performance.now() + timeoutInMs;
    while (waiting.size > 0 && performance.now() < giveUpAt) {
      const present = new Set((await peekAll(live)).map(eventIdOf));
      // Looked at last, or what moves between the two looks would count as gone.
      for (const letter of await peekAll(dead)) letters.set(eventIdOf(letter), letter.deadLetterReason ?? 'no reason');
      for (const event of waiting) {
        if (present.has(event)) continue;
        waiting.delete(event);
        const reason = letters.get(event);
        say(reason === undefined ? `${event}: done, the queue has it no more` : `${event}: dead-lettered, ${reason}`);
      }
      if (waiting.size > 0) await sleep(POLL_IN_MS);
    }
    const own = [good, bad].filter((event) => letters.has(event));
    const left = own.length - (await remove(dead, own));
    if (own.length > 0)
      say(left === 0 ? 'removed from the dead-letter queue' : `${left} left in the dead-letter queue`);
    return problemsOf(good, bad, waiting, letters, left);
  } finally {
    await Promise.all([sender.close(), live.close(), dead.close()]);
  }
}

function problemsOf(
  good: string,
  bad: string,
  waiting: ReadonlySet<string>,
  letters: ReadonlyMap<string, string>,
  left: number,
): string[] {
  const problems = [...waiting].map(
    (event) => `${event} is still in the queue: does the app run, and is it this queue that it consumes?`,
  );
  const reason = letters.get(good);
  if (reason !== undefined) problems.push(`${good} should have succeeded and was dead-lettered: ${reason}`);
  if (!waiting.has(bad) && letters.get(bad) !== 'MalformedBody') {
    problems.push(`${bad} should have been dead-lettered MalformedBody, got ${letters.get(bad) ?? 'nothing'}`);
  }
  if (left > 0) problems.push(`${left} of the two are left in the dead-letter queue: remove them by hand`);
  return problems;
}

/** An event by its own name, also where a delayed copy stands for it. */
const eventIdOf = ({ messageId, applicationProperties }: ServiceBusReceivedMessage): string =>
  String(applicationProperties?.['retry-event-id'] ?? messageId);

/** Completes our dead letters and gives back those of others. @returns how many were removed */
async function remove(dead: ServiceBusReceiver, own: readonly string[]): Promise<number> {
  const others: ServiceBusReceivedMessage[] = [];
  let removed = 0;
  for (let round = 0; round < ROUNDS && removed < own.length; round++) {
    const received = await dead.receiveMessages(PAGE, { maxWaitTimeInMs: 2_000 });
    if (received.length === 0) break;
    for (const message of received) {
      if (own.includes(eventIdOf(message))) {
        await dead.completeMessage(message);
        removed++;
      } else others.push(message);
    }
  }
  // Only now, or the same ones would come again.
  await Promise.allSettled(others.map((message) => dead.abandonMessage(message)));
  return removed;
}
