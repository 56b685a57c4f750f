import { expect } from 'vitest';
import type { Case } from './case.ts';

const SOURCE = 'docs: dead-letter-queues';

export const deadLetteringCases: readonly Case[] = [
  {
    name: 'dead-letters with reason, description and properties',
    source: SOURCE,
    run: async (context) => {
      await context.send('plain', { body: 1, messageId: 'm', applicationProperties: { kept: true } });
      const receiver = context.receiver('plain');
      const options = { deadLetterReason: 'Reason', deadLetterErrorDescription: 'Description', added: 2 };
      await receiver.deadLetterMessage(await context.one(receiver), options);
      expect(await context.one(context.deadLetters('plain'))).toMatchObject({
        body: 1,
        messageId: 'm',
        deadLetterReason: 'Reason',
        deadLetterErrorDescription: 'Description',
        applicationProperties: {
          kept: true,
          added: 2,
          DeadLetterReason: 'Reason',
          DeadLetterErrorDescription: 'Description',
        },
      });
    },
  },
  {
    name: 'dead-letters without a reason',
    source: SOURCE,
    run: async (context) => {
      await context.send('plain', { body: 1 });
      const receiver = context.receiver('plain');
      await receiver.deadLetterMessage(await context.one(receiver));
      expect((await context.one(context.deadLetters('plain'))).body).toBe(1);
    },
  },
  {
    name: 'keeps the sequence number in the dead-letter queue',
    source: 'docs: message-sequencing',
    run: async (context) => {
      await context.send('plain', { body: 1 });
      const receiver = context.receiver('plain');
      const message = await context.one(receiver);
      await receiver.deadLetterMessage(message);
      expect((await context.one(context.deadLetters('plain'))).sequenceNumber).toEqual(message.sequenceNumber);
    },
  },
  {
    name: 'dead-letters after the last permitted delivery, with the number of deliveries',
    source: SOURCE,
    run: async (context) => {
      await context.send('plain', { body: 1 });
      const receiver = context.receiver('plain');
      for (let delivery = 1; delivery <= 3; delivery++) await receiver.abandonMessage(await context.one(receiver));
      expect(await context.one(context.deadLetters('plain'))).toMatchObject({
        deadLetterReason: 'MaxDeliveryCountExceeded',
        deadLetterErrorDescription: 'Message could not be consumed after 3 delivery attempts.',
      });
      expect(await receiver.peekMessages(1)).toEqual([]);
    },
  },
  {
    name: 'locks and redelivers dead letters like other messages',
    source: SOURCE,
    run: async (context) => {
      await context.send('plain', { body: 1 });
      const receiver = context.receiver('plain');
      await receiver.deadLetterMessage(await context.one(receiver));
      const deadLetters = context.deadLetters('plain');
      await deadLetters.abandonMessage(await context.one(deadLetters));
      await deadLetters.completeMessage(await context.one(deadLetters));
      expect(await deadLetters.peekMessages(1)).toEqual([]);
    },
  },
  {
    name: 'does not count deliveries from the dead-letter queue against it',
    source: SOURCE,
    run: async (context) => {
      await context.send('plain', { body: 1 });
      const receiver = context.receiver('plain');
      await receiver.deadLetterMessage(await context.one(receiver));
      const deadLetters = context.deadLetters('plain');
      for (let delivery = 1; delivery <= 5; delivery++)
        await deadLetters.abandonMessage(await context.one(deadLetters));
      expect((await context.one(deadLetters)).body).toBe(1);
    },
  },
  {
    name: 'takes no message sent to a dead-letter queue',
    source: SOURCE,
    run: async (context) => {
      expect(await context.codeOf(context.send('plain/$DeadLetterQueue', { body: 1 }))).not.toBe('no error');
    },
  },
  {
    name: 'dead-letters a message whose receiver has closed',
    source: 'docs: amqp-request-response',
    run: async (context) => {
      await context.send('other', { body: 1 });
      const receiver = context.receiver('other');
      const message = await context.one(receiver);
      await receiver.close();
      const options = { deadLetterReason: 'Late', deadLetterErrorDescription: 'closed' };
      await context.receiver('other').deadLetterMessage(message, options);
      expect((await context.one(context.deadLetters('other'))).deadLetterReason).toBe('Late');
    },
  },
];
