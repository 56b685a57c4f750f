import type { Content } from '../../../../local/broker/model/content.ts';
import { Namespace } from '../../../../local/broker/model/namespace.ts';
import type { Queue } from '../../../../local/broker/model/queue.ts';
import { defaultQueueSettings, type QueueSettings } from '../../../../local/broker/model/queue-settings.ts';

/** Noon of a fixed day: the instant at which every test of the model starts. */
export const NOON_UTC = Date.UTC(2026, 0, 5, 12);

export type TestQueue = {
  readonly namespace: Namespace;
  readonly queue: Queue;
  readonly deadLetters: Queue;
  /** Moves the clock and lets happen what is due. */
  pass(inMs: number): void;
  /** Moves the clock and tells nobody. */
  passUnnoticed(inMs: number): void;
};

/** A queue 'orders' on a clock that stands still until told otherwise. */
export function aQueue(settings: Partial<QueueSettings> = {}): TestQueue {
  let nowUtc = NOON_UTC;
  const queues = new Map([['orders', { ...defaultQueueSettings, ...settings }]]);
  const namespace = new Namespace({ clock: { now: () => nowUtc }, queues });
  return {
    namespace,
    queue: namespace.queue('orders'),
    deadLetters: namespace.queue('orders/$DeadLetterQueue'),
    pass: (inMs) => {
      nowUtc += inMs;
      namespace.advance();
    },
    passUnnoticed: (inMs) => {
      nowUtc += inMs;
    },
  };
}

/** A message with nothing but what the test names. */
export function aMessage(messageId: string, overrides: Partial<Content> = {}): Content {
  return {
    bytes: Buffer.from(messageId),
    messageId,
    sessionId: undefined,
    timeToLiveInMs: undefined,
    fields: { messageId, applicationProperties: new Map() },
    ...overrides,
  };
}

/** Receives everything there is and names it. */
export function receivedIds(queue: Queue): (string | undefined)[] {
  const ids: (string | undefined)[] = [];
  for (let delivery = queue.receive(); delivery !== undefined; delivery = queue.receive()) {
    ids.push(delivery.message.content.messageId);
  }
  return ids;
}
