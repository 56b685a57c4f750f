import { expect } from 'vitest';
import { bodies, type Case } from './case.ts';

const SCHEDULING = 'docs: message-sequencing';
const DUPLICATES = 'docs: duplicate-detection';
const EXPIRY = 'docs: message-expiration';
const WINDOW_IN_MS = 20_000;
const soon = (inMs: number) => new Date(Date.now() + inMs);

const scheduling: Case[] = [
  {
    name: 'holds a scheduled message until it is due',
    source: SCHEDULING,
    run: async (context) => {
      await context.client.createSender('plain').scheduleMessages({ body: 1 }, soon(4000));
      expect(await context.some(context.receiver('plain'), 1)).toEqual([]);
      await context.run.elapse(5000);
      expect((await context.one(context.receiver('plain'))).body).toBe(1);
    },
  },
  {
    name: 'holds a message that is sent with a scheduled enqueue time',
    source: SCHEDULING,
    run: async (context) => {
      await context.send('plain', { body: 1, scheduledEnqueueTimeUtc: soon(4000) });
      expect(await context.some(context.receiver('plain'), 1)).toEqual([]);
      await context.run.elapse(5000);
      expect((await context.one(context.receiver('plain'))).body).toBe(1);
    },
  },
  {
    name: 'holds only those messages of an array that are scheduled',
    source: SCHEDULING,
    run: async (context) => {
      const sender = context.client.createSender('plain');
      await sender.sendMessages([{ body: 'later', scheduledEnqueueTimeUtc: soon(4000) }, { body: 'now' }]);
      expect(bodies(await context.some(context.receiver('plain'), 2))).toEqual(['now']);
    },
  },
  {
    name: 'sends at once what is scheduled for the past',
    source: SCHEDULING,
    run: async (context) => {
      await context.client.createSender('plain').scheduleMessages({ body: 1 }, soon(-60_000));
      expect((await context.one(context.receiver('plain'))).body).toBe(1);
    },
  },
  {
    name: 'shows a scheduled message to a peek, as scheduled and under its number',
    source: 'docs: message-browsing',
    run: async (context) => {
      const sender = context.client.createSender('plain');
      const numbers = await sender.scheduleMessages({ body: 1 }, soon(60_000));
      const [peeked] = await context.receiver('plain').peekMessages(1);
      expect([peeked?.state, peeked?.sequenceNumber]).toEqual(['scheduled', numbers[0]]);
      await sender.cancelScheduledMessages(numbers);
    },
  },
  {
    name: 'gives one number for each message that it schedules',
    source: 'docs: amqp-request-response',
    run: async (context) => {
      const sender = context.client.createSender('plain');
      const numbers = await sender.scheduleMessages([{ body: 1 }, { body: 2 }], soon(60_000));
      expect(new Set(numbers.map(String)).size).toBe(2);
      await sender.cancelScheduledMessages(numbers);
    },
  },
  {
    name: 'cancels a scheduled message',
    source: SCHEDULING,
    needs: ['cancelScheduled'],
    run: async (context) => {
      const sender = context.client.createSender('plain');
      const [number] = await sender.scheduleMessages({ body: 'cancelled' }, soon(3000));
      await sender.scheduleMessages({ body: 'kept' }, soon(3000));
      if (number !== undefined) await sender.cancelScheduledMessages(number);
      await context.run.elapse(4000);
      expect(bodies(await context.some(context.receiver('plain'), 2))).toEqual(['kept']);
    },
  },
  {
    name: 'says that there is nothing to cancel',
    source: 'docs: amqp-request-response',
    needs: ['cancelScheduled'],
    run: async (context) => {
      const sender = context.client.createSender('plain');
      const numbers = await sender.scheduleMessages({ body: 1 }, soon(60_000));
      await sender.cancelScheduledMessages(numbers);
      expect(await context.codeOf(sender.cancelScheduledMessages(numbers))).toBe('MessageNotFound');
    },
  },
  {
    name: 'gives scheduled messages out in the order in which they are due',
    source: SCHEDULING,
    run: async (context) => {
      const sender = context.client.createSender('plain');
      await sender.scheduleMessages({ body: 'second' }, soon(3000));
      await sender.scheduleMessages({ body: 'first' }, soon(1500));
      await context.run.elapse(4500);
      expect(bodies(await context.some(context.receiver('plain'), 2))).toEqual(['first', 'second']);
    },
  },
  {
    name: 'keeps all fields of a scheduled message',
    source: 'docs: messages-payloads',
    run: async (context) => {
      const fields = { messageId: 'm', subject: 's', applicationProperties: { n: 1.5 } };
      await context.send('plain', { body: { a: 1 }, ...fields, scheduledEnqueueTimeUtc: soon(1000) });
      await context.run.elapse(2000);
      expect(await context.one(context.receiver('plain'))).toMatchObject({ body: { a: 1 }, ...fields });
    },
  },
];

const duplicates: Case[] = [
  {
    name: 'drops a duplicate while its send succeeds',
    source: DUPLICATES,
    run: async (context) => {
      await context.send('no-duplicates', { body: 1, messageId: 'same' }, { body: 2, messageId: 'same' });
      expect(bodies(await context.some(context.receiver('no-duplicates'), 2))).toEqual([1]);
    },
  },
  {
    name: 'remembers an id after its message was consumed',
    source: 'field: issue threads',
    run: async (context) => {
      await context.send('no-duplicates', { body: 1, messageId: 'consumed' });
      const receiver = context.receiver('no-duplicates');
      await receiver.completeMessage(await context.one(receiver));
      await context.send('no-duplicates', { body: 2, messageId: 'consumed' });
      expect(await context.some(receiver, 1)).toEqual([]);
    },
  },
  {
    name: 'takes an id again when the window is over',
    source: DUPLICATES,
    run: async (context) => {
      await context.send('no-duplicates', { body: 1, messageId: 'again' });
      await context.run.elapse(WINDOW_IN_MS + 1000);
      await context.send('no-duplicates', { body: 2, messageId: 'again' });
      expect(bodies(await context.some(context.receiver('no-duplicates'), 2))).toEqual([1, 2]);
    },
  },
  {
    name: 'drops a duplicate that is scheduled',
    source: 'field: issue threads',
    run: async (context) => {
      await context.send('no-duplicates', { body: 1, messageId: 'copy' });
      await context.send('no-duplicates', { body: 2, messageId: 'copy', scheduledEnqueueTimeUtc: soon(1000) });
      await context.client.createSender('no-duplicates').scheduleMessages({ body: 3, messageId: 'copy' }, soon(1000));
      await context.run.elapse(2500);
      expect(bodies(await context.some(context.receiver('no-duplicates'), 3))).toEqual([1]);
    },
  },
  {
    name: 'detects no duplicates where the queue does not say so',
    source: DUPLICATES,
    run: async (context) => {
      await context.send('plain', { body: 1, messageId: 'same' }, { body: 2, messageId: 'same' });
      expect(bodies(await context.some(context.receiver('plain'), 2))).toEqual([1, 2]);
    },
  },
];

const expiry: Case[] = [
  {
    name: 'drops an expired message where the queue does not dead-letter it',
    source: EXPIRY,
    run: async (context) => {
      await context.send('plain', { body: 1, timeToLive: 1000 });
      await context.run.elapse(2000);
      expect(await context.some(context.receiver('plain'), 1)).toEqual([]);
      expect(await context.some(context.deadLetters('plain'), 1)).toEqual([]);
    },
  },
  {
    name: 'dead-letters an expired message where the queue says so',
    source: EXPIRY,
    run: async (context) => {
      await context.send('expiring', { body: 1, timeToLive: 1000 });
      await context.run.elapse(2000);
      expect(await context.some(context.receiver('expiring'), 1)).toEqual([]);
      expect(await context.one(context.deadLetters('expiring'))).toMatchObject({
        body: 1,
        deadLetterReason: 'TTLExpiredException',
        deadLetterErrorDescription: 'The message expired and was dead lettered.',
      });
    },
  },
  {
    name: 'lets a message be completed that expires under its lock',
    source: EXPIRY,
    run: async (context) => {
      await context.send('expiring', { body: 1, timeToLive: 2000 });
      const receiver = context.receiver('expiring');
      const message = await context.one(receiver);
      await context.run.elapse(3000);
      await receiver.completeMessage(message);
      expect(await context.some(context.deadLetters('expiring'), 1)).toEqual([]);
    },
  },
  {
    name: 'expires a message at the end of its lock',
    source: EXPIRY,
    run: async (context) => {
      await context.send('expiring', { body: 1, timeToLive: 2000 });
      const receiver = context.receiver('expiring');
      const message = await context.one(receiver);
      await context.run.elapse(3000);
      await receiver.abandonMessage(message);
      expect((await context.one(context.deadLetters('expiring'))).deadLetterReason).toBe('TTLExpiredException');
    },
  },
  {
    name: 'starts the time to live of a scheduled message when it becomes active',
    source: EXPIRY,
    run: async (context) => {
      const message = { body: 1, timeToLive: 3000, scheduledEnqueueTimeUtc: soon(4000) };
      await context.send('plain', message);
      await context.run.elapse(5500);
      expect((await context.one(context.receiver('plain'))).body).toBe(1);
    },
  },
  {
    name: 'shows when a message expires',
    source: EXPIRY,
    run: async (context) => {
      await context.send('plain', { body: 1, timeToLive: 60_000 });
      const { enqueuedTimeUtc, expiresAtUtc } = await context.one(context.receiver('plain'));
      expect(Number(expiresAtUtc) - Number(enqueuedTimeUtc)).toBe(60_000);
    },
  },
  {
    name: 'caps the time to live by that of the queue',
    source: EXPIRY,
    run: async (context) => {
      await context.send('plain', { body: 1, timeToLive: 48 * 3_600_000 });
      const { enqueuedTimeUtc, expiresAtUtc } = await context.one(context.receiver('plain'));
      expect(Number(expiresAtUtc) - Number(enqueuedTimeUtc)).toBe(3_600_000);
    },
  },
];

export const timingCases: readonly Case[] = [...scheduling, ...duplicates, ...expiry];
