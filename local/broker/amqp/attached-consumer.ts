import type { Sender } from 'rhea';
import type { Faults } from '../faults/faults.ts';
import type { ReceiveMode } from '../model/outcomes.ts';
import type { Queue } from '../model/queue.ts';
import type { SessionHold, SessionTable } from '../model/session-table.ts';
import { answerAttach, refuseAttach } from './attach.ts';
import { CONDITION, sessionLockLost } from './conditions.ts';
import { ConsumerLink } from './consumer-link.ts';
import type { Dispatchers } from './dispatchers.ts';
import { holdAttach, setAttach } from './rhea-internals.ts';
import { grantedFilter, lockedUntilProperty, sessionRequestOf } from './session-request.ts';

/** A receiving link that a client has attached. */
export type AttachedConsumer = {
  readonly queue: Queue;
  /** `undefined` while the client waits for a session. */
  link: ConsumerLink | undefined;
  hold: SessionHold | undefined;
  /** Hands over what the client wants and the queue has. */
  run(): void;
  /** Ends the link's claim: on the queue's messages, or on its session. */
  detach(): void;
};

/** What an attach needs. */
export type AttachOptions = {
  readonly sender: Sender;
  readonly queue: Queue;
  readonly mode: ReceiveMode;
  readonly dispatchers: Dispatchers;
  readonly faults: Faults;
};

/** Connects a client's receiver to a queue, or refuses it with an error on the link. */
export function attachToQueue(options: AttachOptions): AttachedConsumer | undefined {
  const { sender, queue, mode, dispatchers, faults } = options;
  const request = sessionRequestOf(sender);
  const { sessions } = queue;
  if ((request.kind === 'none') !== (sessions === undefined)) {
    refuseAttach(sender, { condition: CONDITION.notAllowed, description: sessionMismatch(queue) });
    return undefined;
  }
  if (sessions === undefined) {
    const link = new ConsumerLink({ sender, queue, mode, hold: undefined, faults });
    answerAttach(sender);
    const run = () => dispatchers.run(queue);
    return { queue, link, hold: undefined, run, detach: dispatchers.attach(queue, link) };
  }
  if (request.kind === 'next') return attachToNext(options, sessions, request.timeoutInMs);
  const sessionId = request.kind === 'named' ? request.sessionId : '';
  const hold = sessions.accept(sessionId);
  if (hold !== undefined) return serveSession(options, sessions, hold);
  const description = `The requested session '${sessionId}' cannot be accepted. It may be locked by another receiver.`;
  refuseAttach(sender, { condition: CONDITION.sessionCannotBeLocked, description });
  return undefined;
}

function serveSession(
  { sender, queue, mode, faults }: AttachOptions,
  sessions: SessionTable,
  hold: SessionHold,
): AttachedConsumer {
  const link = new ConsumerLink({ sender, queue, mode, hold, faults });
  const run = () => {
    while (link.wantsMore() && link.sendNext());
  };
  sender.set_source({ address: sender.source.address, filter: grantedFilter(hold.sessionId) });
  setAttach(sender, { properties: lockedUntilProperty(hold.lockedUntilUtc) });
  answerAttach(sender);
  hold.onLost = () => sender.close(sessionLockLost);
  const unwatch = queue.watch((sessionId) => {
    if (sessionId === hold.sessionId) run();
  });
  const detach = () => {
    unwatch();
    sessions.release(hold);
  };
  return { queue, link, hold, run, detach };
}

/** The attach is answered when a session is free, or with an error when none was for as long as the client waits. */
function attachToNext(options: AttachOptions, sessions: SessionTable, timeoutInMs: number): AttachedConsumer {
  const { sender, queue } = options;
  const first = sessions.acceptNext();
  if (first !== undefined) return serveSession(options, sessions, first);
  holdAttach(sender);
  const waiting: AttachedConsumer = { queue, link: undefined, hold: undefined, run: () => {}, detach: () => stop() };
  const stop = () => {
    clearTimeout(timer);
    unwatch();
  };
  const unwatch = sessions.watch(() => {
    const hold = sessions.acceptNext();
    if (hold === undefined) return;
    stop();
    Object.assign(waiting, serveSession(options, sessions, hold));
    sender.open();
    answerAttach(sender);
    waiting.run();
  });
  const timer = setTimeout(() => {
    stop();
    sender.open();
    refuseAttach(sender, { condition: CONDITION.timeout, description: 'No session became available in time.' });
  }, timeoutInMs);
  return waiting;
}

function sessionMismatch({ path, sessions }: Queue): string {
  return sessions === undefined
    ? `A sessionful message receiver cannot be created on '${path}', which does not require sessions.`
    : `It is not possible to create a non-sessionful message receiver on '${path}', which requires sessions.`;
}
