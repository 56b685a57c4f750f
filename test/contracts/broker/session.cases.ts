import { expect } from 'vitest';
import { bodies, type Case, type CaseContext } from './case.ts';

const SOURCE = 'docs: message-sessions';
const OPTIONS = { maxAutoLockRenewalDurationInMs: 0 };
const accept = (context: CaseContext, id: string) => context.client.acceptSession('sessions', id, OPTIONS);

let count = 0;
/** Sessions of their own for each case: a real namespace remembers their state. */
const newSession = () => `s-${process.pid}-${Date.now()}-${++count}`;

export const sessionCases: readonly Case[] = [
  {
    name: 'hands over the messages of one session in order',
    source: SOURCE,
    run: async (context) => {
      const [mine, theirs] = [newSession(), newSession()];
      const message = (body: number, sessionId: string) => ({ body, sessionId });
      await context.send('sessions', message(1, mine), message(2, theirs), message(3, mine));
      expect(bodies(await context.some(await accept(context, mine), 3))).toEqual([1, 3]);
    },
  },
  {
    name: 'gives a session to one receiver at a time',
    source: SOURCE,
    run: async (context) => {
      const id = newSession();
      const first = await accept(context, id);
      expect(await context.codeOf(accept(context, id))).toBe('SessionCannotBeLocked');
      await first.close();
      expect((await accept(context, id)).sessionId).toBe(id);
    },
  },
  {
    name: 'gives out the next session that has messages',
    source: SOURCE,
    run: async (context) => {
      const id = newSession();
      await context.send('sessions', { body: 1, sessionId: id });
      const receiver = await context.client.acceptNextSession('sessions', OPTIONS);
      expect([receiver.sessionId, bodies(await context.some(receiver, 1))]).toEqual([id, [1]]);
    },
  },
  {
    name: 'gives a session to a receiver that waits for one',
    source: SOURCE,
    run: async (context) => {
      const id = newSession();
      const waiting = context.client.acceptNextSession('sessions', OPTIONS);
      await context.send('sessions', { body: 1, sessionId: id });
      expect((await waiting).sessionId).toBe(id);
    },
  },
  {
    name: 'keeps a state with a session, and clears it',
    source: SOURCE,
    run: async (context) => {
      const id = newSession();
      const first = await accept(context, id);
      await first.setSessionState('step 1');
      await first.close();
      const second = await accept(context, id);
      expect(await second.getSessionState()).toBe('step 1');
      await second.setSessionState(null);
      expect(await second.getSessionState()).toBeFalsy();
    },
  },
  {
    name: 'renews the lock on a session',
    source: SOURCE,
    needs: ['stableSessionLinks'],
    run: async (context) => {
      const id = newSession();
      await context.send('sessions', { body: 1, sessionId: id });
      const receiver = await accept(context, id);
      const message = await context.one(receiver);
      await context.run.elapse(3000);
      await receiver.renewSessionLock();
      await context.run.elapse(3000);
      await receiver.completeMessage(message);
      expect(await receiver.peekMessages(1)).toEqual([]);
    },
  },
  {
    name: 'gives a session on when its lock ends, with the deliveries counted',
    source: SOURCE,
    run: async (context) => {
      const id = newSession();
      await context.send('sessions', { body: 1, sessionId: id });
      await context.one(await accept(context, id));
      await context.run.elapse(6000);
      expect(await context.one(await accept(context, id))).toMatchObject({ body: 1, deliveryCount: 1 });
    },
  },
  {
    name: 'gives messages on uncounted when a session is closed',
    source: SOURCE,
    run: async (context) => {
      const id = newSession();
      await context.send('sessions', { body: 1, sessionId: id });
      const first = await accept(context, id);
      await context.one(first);
      await first.close();
      expect(await context.one(await accept(context, id))).toMatchObject({ body: 1, deliveryCount: 0 });
    },
  },
  {
    name: 'puts an abandoned message before the rest of its session',
    source: SOURCE,
    run: async (context) => {
      const id = newSession();
      await context.send('sessions', { body: 1, sessionId: id }, { body: 2, sessionId: id });
      const receiver = await accept(context, id);
      await receiver.abandonMessage(await context.one(receiver));
      expect(bodies(await context.some(receiver, 2))).toEqual([1, 2]);
    },
  },
  {
    name: 'shows the messages of its own session only',
    source: 'docs: message-browsing',
    run: async (context) => {
      const id = newSession();
      await context.send('sessions', { body: 1, sessionId: id }, { body: 2, sessionId: newSession() });
      expect(bodies(await (await accept(context, id)).peekMessages(10))).toEqual([1]);
    },
  },
  {
    name: 'schedules a message into its session',
    source: SOURCE,
    run: async (context) => {
      const id = newSession();
      const scheduledEnqueueTimeUtc = new Date(Date.now() + 1000);
      await context.send('sessions', { body: 1, sessionId: id, scheduledEnqueueTimeUtc });
      await context.run.elapse(2000);
      expect(bodies(await context.some(await accept(context, id), 1))).toEqual([1]);
    },
  },
  {
    name: 'defers a message within its session',
    source: SOURCE,
    run: async (context) => {
      const id = newSession();
      await context.send('sessions', { body: 1, sessionId: id });
      const receiver = await accept(context, id);
      const message = await context.one(receiver);
      await receiver.deferMessage(message);
      const [deferred] = await receiver.receiveDeferredMessages(message.sequenceNumber ?? []);
      if (deferred !== undefined) await receiver.completeMessage(deferred);
      expect(await receiver.peekMessages(1)).toEqual([]);
    },
  },
  {
    name: 'judges duplicates within a session',
    source: 'field: issue threads',
    run: async (context) => {
      const [one, two] = [newSession(), newSession()];
      const message = (sessionId: string, body: number) => ({ body, messageId: 'same', sessionId });
      await context.send('sessions', message(one, 1), message(two, 2), message(one, 3));
      expect(bodies(await context.some(await accept(context, one), 2))).toEqual([1]);
      expect(bodies(await context.some(await accept(context, two), 2))).toEqual([2]);
    },
  },
  {
    name: 'refuses a message without a session',
    source: SOURCE,
    run: async (context) => {
      expect(await context.codeOf(context.send('sessions', { body: 1 }))).not.toBe('no error');
    },
  },
  {
    name: 'refuses a receiver without a session',
    source: SOURCE,
    run: async (context) => {
      expect(await context.codeOf(context.receiver('sessions').receiveMessages(1))).not.toBe('no error');
    },
  },
  {
    name: 'dead-letters out of the session',
    source: 'docs: dead-letter-queues',
    run: async (context) => {
      const id = newSession();
      await context.send('sessions', { body: 1, sessionId: id });
      const receiver = await accept(context, id);
      await receiver.deadLetterMessage(await context.one(receiver));
      expect(await context.one(context.deadLetters('sessions'))).toMatchObject({ body: 1, sessionId: id });
    },
  },
];
