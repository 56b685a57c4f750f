import { Namespace } from '../local/broker/model/namespace.ts';
import { defaultQueueSettings, type QueueSettings } from '../local/broker/model/queue-settings.ts';

const RATE_PER_S = 200;
const BACKLOG_IN_S = 300;
const PARTS = 4;
const HOUR_IN_S = 3600;

/** What a message costs in each quarter of an hour, in microseconds. */
export type Hour = { readonly name: string; readonly partsInUs: readonly number[] };

const KINDS: Readonly<Record<string, Partial<QueueSettings>>> = {
  'like any other': {},
  'that detects duplicates': { duplicateDetectionWindowInMs: 60_000 },
  'with sessions': { requiresSession: true },
};

/**
 * Takes one queue of each kind through an hour of 200 messages a second, on the model alone and on a clock of its own:
 * each is sent, one in ten for a later instant, stays behind a backlog of five minutes, is abandoned once in ten times,
 * and completed. What came before must not make what comes after dearer.
 */
export function hours(): Hour[] {
  return Object.entries(KINDS).map(([name, settings]) => ({ name, partsInUs: partsOf(settings) }));
}

function partsOf(settings: Partial<QueueSettings>): number[] {
  let nowUtc = Date.UTC(2026, 0, 5, 12);
  const queues = new Map([['q', { ...defaultQueueSettings, ...settings }]]);
  const namespace = new Namespace({ clock: { now: () => nowUtc }, queues });
  const queue = namespace.queue('q');
  const bytes = Buffer.alloc(200);
  let count = 0;
  const send = () => {
    const messageId = `m${++count}`;
    const sessionId = settings.requiresSession ? `s${count}` : undefined;
    const content = {
      bytes,
      messageId,
      sessionId,
      timeToLiveInMs: undefined,
      fields: { applicationProperties: new Map() },
    };
    if (count % 10 === 0) queue.schedule(content, nowUtc + 60_000);
    else queue.send(content);
  };
  const settle = (kind: 'abandon' | 'complete') => {
    const hold = queue.sessions?.acceptNext();
    const token = queue.receive('peekLock', hold)?.lockToken;
    if (token !== undefined) queue.settle(token, { kind });
    if (hold !== undefined) queue.sessions?.release(hold);
  };
  const second = (isDraining: boolean) => {
    nowUtc += 1000;
    namespace.advance();
    for (let index = 0; index < RATE_PER_S; index++) {
      send();
      if (!isDraining) continue;
      if (index % 10 === 0) settle('abandon');
      settle('complete');
    }
  };
  for (let index = 0; index < BACKLOG_IN_S; index++) second(false);
  return Array.from({ length: PARTS }, () => {
    const start = performance.now();
    for (let index = 0; index < HOUR_IN_S / PARTS; index++) second(true);
    return ((performance.now() - start) * 1000 * PARTS) / (HOUR_IN_S * RATE_PER_S);
  });
}
