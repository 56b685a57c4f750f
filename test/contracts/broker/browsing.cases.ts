import type { ServiceBusReceivedMessage } from '@azure/service-bus';
import { expect } from 'vitest';
import { bodies, type Case } from './case.ts';

const BROWSING = 'docs: message-browsing';
const DEFERRAL = 'docs: message-deferral';

export const browsingCases: readonly Case[] = [
  {
    name: 'shows messages without locking them',
    source: BROWSING,
    run: async (context) => {
      await context.send('plain', { body: 1 }, { body: 2 });
      const receiver = context.receiver('plain');
      expect(bodies(await receiver.peekMessages(10))).toEqual([1, 2]);
      expect(bodies(await context.some(receiver, 2))).toEqual([1, 2]);
    },
  },
  {
    name: 'goes on where the last peek of a receiver stopped',
    source: BROWSING,
    run: async (context) => {
      await context.send('plain', { body: 1 }, { body: 2 }, { body: 3 });
      const receiver = context.receiver('plain');
      expect(bodies(await receiver.peekMessages(2))).toEqual([1, 2]);
      expect(bodies(await receiver.peekMessages(2))).toEqual([3]);
      expect(await receiver.peekMessages(2)).toEqual([]);
    },
  },
  {
    name: 'shows messages from a sequence number on',
    source: BROWSING,
    run: async (context) => {
      await context.send('plain', { body: 1 }, { body: 2 });
      const receiver = context.receiver('plain');
      const [, second] = await receiver.peekMessages(2);
      const from = second?.sequenceNumber;
      if (from === undefined) throw new Error('The message has no sequence number.');
      expect(bodies(await receiver.peekMessages(5, { fromSequenceNumber: from }))).toEqual([2]);
    },
  },
  {
    name: 'shows locked messages too',
    source: BROWSING,
    run: async (context) => {
      await context.send('plain', { body: 1 });
      await context.one(context.receiver('plain'));
      expect(bodies(await context.receiver('plain').peekMessages(1))).toEqual([1]);
    },
  },
  {
    name: 'shows dead letters with their reason',
    source: BROWSING,
    run: async (context) => {
      await context.send('plain', { body: 1 });
      const receiver = context.receiver('plain');
      const options = { deadLetterReason: 'R', deadLetterErrorDescription: 'D' };
      await receiver.deadLetterMessage(await context.one(receiver), options);
      const [dead] = await context.deadLetters('plain').peekMessages(1);
      expect(dead).toMatchObject({ body: 1, deadLetterReason: 'R', deadLetterErrorDescription: 'D' });
    },
  },
  {
    name: 'shows nothing where there is nothing',
    source: BROWSING,
    run: async (context) => {
      expect(await context.receiver('plain').peekMessages(10)).toEqual([]);
    },
  },
  {
    name: 'gives a deferred message to nobody who does not ask for its number',
    source: DEFERRAL,
    run: async (context) => {
      await context.send('plain', { body: 1 }, { body: 2 });
      const receiver = context.receiver('plain');
      const deferred = await context.one(receiver);
      await receiver.deferMessage(deferred);
      expect(bodies(await context.some(receiver, 2))).toEqual([2]);
      const [message] = await receiver.receiveDeferredMessages(deferred.sequenceNumber ?? []);
      await receiver.completeMessage(message as ServiceBusReceivedMessage);
    },
  },
  {
    name: 'shows a deferred message to a peek, as deferred',
    source: DEFERRAL,
    run: async (context) => {
      await context.send('plain', { body: 1 });
      const receiver = context.receiver('plain');
      const deferred = await context.one(receiver);
      await receiver.deferMessage(deferred, { note: 'later' });
      const [peeked] = await context.receiver('plain').peekMessages(1);
      expect(peeked).toMatchObject({ state: 'deferred', applicationProperties: { note: 'later' } });
      const [message] = await receiver.receiveDeferredMessages(deferred.sequenceNumber ?? []);
      await receiver.completeMessage(message as ServiceBusReceivedMessage);
      expect(await context.receiver('plain').peekMessages(1)).toEqual([]);
    },
  },
  {
    name: 'says that no message of that number is deferred',
    source: DEFERRAL,
    run: async (context) => {
      await context.send('plain', { body: 1 });
      const receiver = context.receiver('plain');
      const { sequenceNumber } = await context.one(receiver);
      expect(await context.codeOf(receiver.receiveDeferredMessages(sequenceNumber ?? []))).toBe('MessageNotFound');
    },
  },
  {
    name: 'dead-letters a deferred message',
    source: DEFERRAL,
    run: async (context) => {
      await context.send('plain', { body: 1 });
      const receiver = context.receiver('plain');
      const deferred = await context.one(receiver);
      await receiver.deferMessage(deferred);
      const [message] = await receiver.receiveDeferredMessages(deferred.sequenceNumber ?? []);
      const options = { deadLetterReason: 'R', deadLetterErrorDescription: 'D' };
      await receiver.deadLetterMessage(message as ServiceBusReceivedMessage, options);
      expect((await context.one(context.deadLetters('plain'))).deadLetterReason).toBe('R');
    },
  },
  {
    name: 'keeps a deferred message deferred when its lock ends',
    source: DEFERRAL,
    run: async (context) => {
      await context.send('plain', { body: 1 });
      const receiver = context.receiver('plain');
      const deferred = await context.one(receiver);
      await receiver.deferMessage(deferred);
      await receiver.receiveDeferredMessages(deferred.sequenceNumber ?? []);
      await context.run.elapse(5500);
      expect(await context.some(receiver, 1)).toEqual([]);
      const [again] = await receiver.receiveDeferredMessages(deferred.sequenceNumber ?? []);
      await receiver.completeMessage(again as ServiceBusReceivedMessage);
    },
  },
];
