import type { ServiceBusReceivedMessage, ServiceBusReceiver } from '@azure/service-bus';
import { expect } from 'vitest';
import { bodies, type Case } from './case.ts';

const SOURCE = 'docs: message-transfers-locks-settlement';
const LOCK_IN_MS = 5000;
type Settle = (receiver: ServiceBusReceiver, message: ServiceBusReceivedMessage) => Promise<void>;

const settlements: readonly (readonly [string, Settle])[] = [
  ['complete', (receiver, message) => receiver.completeMessage(message)],
  ['abandon', (receiver, message) => receiver.abandonMessage(message)],
  ['defer', (receiver, message) => receiver.deferMessage(message)],
  ['dead-letter', (receiver, message) => receiver.deadLetterMessage(message)],
];

const scenarios: Case[] = [
  {
    name: 'does not hand a locked message to another receiver',
    source: SOURCE,
    run: async (context) => {
      await context.send('other', { body: 1 });
      await context.one(context.receiver('other'));
      expect(await context.some(context.receiver('other'), 1)).toEqual([]);
    },
  },
  {
    name: 'locks a message for the lock duration of its queue',
    source: SOURCE,
    run: async (context) => {
      await context.send('plain', { body: 1 });
      const { lockedUntilUtc } = await context.one(context.receiver('plain'));
      const inMs = Number(lockedUntilUtc) - Date.now();
      expect(inMs).toBeGreaterThan(0);
      expect(inMs).toBeLessThanOrEqual(LOCK_IN_MS + 2000);
    },
  },
  {
    name: 'gives a completed message to nobody',
    source: SOURCE,
    run: async (context) => {
      await context.send('plain', { body: 1 });
      const receiver = context.receiver('plain');
      await receiver.completeMessage(await context.one(receiver));
      expect(await receiver.peekMessages(1)).toEqual([]);
    },
  },
  {
    name: 'gives an abandoned message back at once, before those behind it',
    source: SOURCE,
    run: async (context) => {
      await context.send('plain', { body: 1 }, { body: 2 });
      const receiver = context.receiver('plain');
      await receiver.abandonMessage(await context.one(receiver));
      expect(bodies(await context.some(receiver, 2))).toEqual([1, 2]);
    },
  },
  {
    name: 'counts deliveries that were abandoned',
    source: SOURCE,
    run: async (context) => {
      await context.send('plain', { body: 1 });
      const receiver = context.receiver('plain');
      const first = await context.one(receiver);
      await receiver.abandonMessage(first);
      expect([first.deliveryCount, (await context.one(receiver)).deliveryCount]).toEqual([0, 1]);
    },
  },
  {
    name: 'keeps the sequence number of an abandoned message',
    source: 'docs: message-sequencing',
    run: async (context) => {
      await context.send('plain', { body: 1 });
      const receiver = context.receiver('plain');
      const first = await context.one(receiver);
      await receiver.abandonMessage(first);
      expect((await context.one(receiver)).sequenceNumber).toEqual(first.sequenceNumber);
    },
  },
  {
    name: 'gives every delivery a lock token of its own',
    source: SOURCE,
    run: async (context) => {
      await context.send('plain', { body: 1 });
      const receiver = context.receiver('plain');
      const first = await context.one(receiver);
      await receiver.abandonMessage(first);
      expect((await context.one(receiver)).lockToken).not.toBe(first.lockToken);
    },
  },
  {
    name: 'merges the properties of an abandon into those of the message',
    source: 'docs: amqp-request-response',
    run: async (context) => {
      await context.send('plain', { body: 1, applicationProperties: { kept: 1, changed: 1 } });
      const receiver = context.receiver('plain');
      await receiver.abandonMessage(await context.one(receiver), { changed: 2, added: 'x' });
      expect((await context.one(receiver)).applicationProperties).toEqual({ kept: 1, changed: 2, added: 'x' });
    },
  },
  {
    name: 'delivers again when the lock ends, and counts that',
    source: SOURCE,
    run: async (context) => {
      await context.send('plain', { body: 1 });
      await context.one(context.receiver('plain'));
      await context.run.elapse(LOCK_IN_MS + 500);
      expect(await context.one(context.receiver('plain'))).toMatchObject({ body: 1, deliveryCount: 1 });
    },
  },
  {
    name: 'renews a lock',
    source: SOURCE,
    run: async (context) => {
      await context.send('plain', { body: 1 });
      const receiver = context.receiver('plain');
      const message = await context.one(receiver);
      const firstEndUtc = Number(message.lockedUntilUtc);
      await context.run.elapse(3000);
      expect(Number(await receiver.renewMessageLock(message))).toBeGreaterThanOrEqual(firstEndUtc + 2000);
      await context.run.elapse(3000);
      await receiver.completeMessage(message);
      expect(await receiver.peekMessages(1)).toEqual([]);
    },
  },
  {
    name: 'renews no lock that has ended',
    source: 'docs: exceptions',
    run: async (context) => {
      await context.send('plain', { body: 1 });
      const receiver = context.receiver('plain');
      const message = await context.one(receiver);
      await context.run.elapse(LOCK_IN_MS + 500);
      expect(await context.codeOf(receiver.renewMessageLock(message))).toBe('MessageLockLost');
    },
  },
  {
    name: 'keeps a lock when the receiver closes',
    source: SOURCE,
    run: async (context) => {
      await context.send('other', { body: 1 });
      const receiver = context.receiver('other');
      await context.one(receiver);
      await receiver.close();
      expect(await context.some(context.receiver('other'), 1)).toEqual([]);
    },
  },
  {
    name: 'lets a message be settled after its receiver has closed',
    source: 'docs: amqp-request-response',
    run: async (context) => {
      await context.send('other', { body: 1 });
      const receiver = context.receiver('other');
      const message = await context.one(receiver);
      await receiver.close();
      await context.receiver('other').completeMessage(message);
      expect(await context.receiver('other').peekMessages(1)).toEqual([]);
    },
  },
  {
    name: 'removes messages as it hands them over in receive-and-delete mode',
    source: SOURCE,
    run: async (context) => {
      await context.send('plain', { body: 1 }, { body: 2 });
      const receiver = context.receiver('plain', { receiveMode: 'receiveAndDelete' });
      expect(bodies(await context.some(receiver, 2))).toEqual([1, 2]);
      expect(await context.receiver('plain').peekMessages(1)).toEqual([]);
    },
  },
  {
    name: 'goes on with a link after a receive that found nothing',
    source: 'AMQP 1.0',
    run: async (context) => {
      const receiver = context.receiver('plain');
      expect(await receiver.receiveMessages(10, { maxWaitTimeInMs: 100 })).toEqual([]);
      await context.send('plain', { body: 1 });
      expect((await context.one(receiver)).body).toBe(1);
    },
  },
  {
    name: 'shares messages among receivers without giving one twice',
    source: SOURCE,
    run: async (context) => {
      await context.client.createSender('other').sendMessages(Array.from({ length: 20 }, (_, body) => ({ body })));
      const shares = await Promise.all([1, 2].map(() => context.some(context.receiver('other'), 10)));
      expect(
        shares
          .flatMap(bodies)
          .map(Number)
          .sort((a, b) => a - b),
      ).toEqual(Array.from({ length: 20 }, (_, index) => index));
    },
  },
  {
    name: 'says that a queue is not there to receive from',
    source: 'docs: exceptions',
    run: async (context) => {
      expect(await context.codeOf(context.receiver('nowhere').receiveMessages(1))).toBe('MessagingEntityNotFound');
    },
  },
];

export const settlingCases: readonly Case[] = [
  ...scenarios,
  ...settlements.map(
    ([name, settle]): Case => ({
      name: `refuses to ${name} under a lock that has ended`,
      source: 'docs: exceptions',
      run: async (context) => {
        await context.send('plain', { body: 1 });
        const receiver = context.receiver('plain');
        const message = await context.one(receiver);
        await context.run.elapse(LOCK_IN_MS + 500);
        expect(await context.codeOf(settle(receiver, message))).toBe('MessageLockLost');
        expect((await context.one(context.receiver('plain'))).body).toBe(1);
      },
    }),
  ),
];
