import type { ServiceBusSessionReceiver } from '@azure/service-bus';
import type { Listener } from '../listener.ts';
import { batchFiringOf, firingOf } from './firing.ts';
import { HeldDelivery } from './held-delivery.ts';
import { keepLockRenewed } from './lock-renewal.ts';
import { ServedSession } from './served-session.ts';
import {
  type DispatchOptions,
  dispatch,
  ERROR_PAUSE_IN_MS,
  GATHERING,
  pause,
  settleAfterwards,
  type WriteLog,
  writeLogOf,
} from './service-bus-listener.ts';

/** How long a session without messages is held where host.json does not say, in ms: the client's own limit. */
const IDLE_LIMIT_IN_MS = 60_000;

export interface SessionListenerOptions extends DispatchOptions {
  /** Locks the next session that is free and has messages. Rejects where none comes for a while. */
  readonly nextSession: (stopped: AbortSignal) => Promise<ServiceBusSessionReceiver>;
}

/**
 * Up to maxConcurrentSessions sessions at a time, each given back once it has had no message for sessionIdleTimeout. As in
 * the real host the lock on a session is renewed from its acceptance on, for maxAutoLockRenewalDuration in all, and none in
 * batches.
 */
export function startSessionListener(options: SessionListenerOptions): Listener {
  const log = writeLogOf(options);
  const stop = new AbortController();
  const served = Array.from({ length: options.config.maxConcurrentSessions }, () =>
    serveSessions(options, stop.signal, log),
  );
  return {
    stopReceiving: async () => stop.abort(),
    idle: async () => void (await Promise.all(served)),
  };
}

/** One session after the other. */
async function serveSessions(options: SessionListenerOptions, stopped: AbortSignal, log: WriteLog): Promise<void> {
  while (!stopped.aborted) {
    try {
      const receiver = await options.nextSession(stopped);
      await serve(new ServedSession(receiver), options, stopped, log);
    } catch (error) {
      if (stopped.aborted) return;
      // Nobody waits in any session.
      if ((error as { code?: unknown }).code === 'ServiceTimeout') continue;
      log('error', `Message processing error (Action=ReceiveSession): ${(error as Error).message}`);
      await pause(ERROR_PAUSE_IN_MS, stopped);
    }
  }
}

/** One session, until it is idle, lost, released or the host stops; what runs then is waited for, and keeps its lock. */
async function serve(
  session: ServedSession,
  options: SessionListenerOptions,
  stopped: AbortSignal,
  log: WriteLog,
): Promise<void> {
  const { config, trigger } = options;
  const { receiver } = session;
  const most = trigger.isBatch ? config.maxMessageBatchSize : 1;
  const callsAtOnce = trigger.isBatch ? 1 : config.maxConcurrentCallsPerSession;
  const waiting = {
    maxWaitTimeInMs: config.sessionIdleTimeoutInMs ?? IDLE_LIMIT_IN_MS,
    abortSignal: AbortSignal.any([stopped, session.over]),
    ...GATHERING,
  };
  const stopRenewing = keepLockRenewed({
    lockedUntilUtc: receiver.sessionLockedUntilUtc,
    limitInMs: trigger.isBatch ? 0 : config.maxAutoLockRenewalDurationInMs,
    renew: () => session.renewLock(),
    onError: (error) => log('warning', `Renewing the lock of ${session} failed: ${error.message}`),
  });
  const running = new Set<Promise<void>>();
  try {
    while (!waiting.abortSignal.aborted) {
      const messages = await receiver.receiveMessages(most, waiting);
      if (messages.length === 0) break;
      const deliveries = messages.map((message) => new HeldDelivery(message, receiver));
      const [first] = messages;
      const firing = trigger.isBatch || !first ? batchFiringOf(messages, trigger) : firingOf(first, trigger);
      options.held.holdSession(receiver.sessionId, session);
      const dealtWith: Promise<void> = (
        stopped.aborted
          ? Promise.all(deliveries.map((delivery) => settleAfterwards(delivery, true, options, log)))
          : dispatch(deliveries, firing, options, log)
      ).then(() => {
        running.delete(dealtWith);
        if (running.size === 0) options.held.forgetSession(receiver.sessionId);
      });
      running.add(dealtWith);
      while (running.size >= callsAtOnce) await Promise.race(running);
    }
  } finally {
    await Promise.all(running);
    stopRenewing();
    // Its lock may be lost, or the connection: then there is nothing to give back.
    await receiver.close().catch(() => undefined);
  }
}
