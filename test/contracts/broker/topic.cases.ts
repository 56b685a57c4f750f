import { expect } from 'vitest';
import { bodies, type Case, type CaseContext } from './case.ts';

const FILTERS = 'docs: topic-filters';
const SQL = 'docs: sql-filter';
const FORWARDING = 'docs: auto-forwarding';
const subscription = (context: CaseContext, name: string) => context.client.createReceiver('events', name);

/** Adds a rule to an otherwise empty subscription, sends, and puts the rules back. */
async function selectedBy(context: CaseContext, sqlExpression: string, messages: object[]): Promise<unknown[]> {
  const manager = context.client.createRuleManager('events', 'all');
  await manager.deleteRule('$Default');
  try {
    await manager.createRule('case', { sqlExpression });
    await context.send('events', ...(messages as { body: unknown }[]));
    return bodies(await context.some(subscription(context, 'all'), messages.length));
  } finally {
    await manager.deleteRule('case');
    await manager.createRule('$Default', { sqlExpression: '1=1' });
  }
}

const numbered = [1, 2, 3].map((n) => ({
  body: n,
  subject: `s${n}`,
  messageId: `m${n}`,
  applicationProperties: n === 3 ? { colour: 'red' } : { n, colour: n === 1 ? 'red' : 'blue' },
}));

const expressions: readonly (readonly [string, number[]])[] = [
  ['n = 1', [1]],
  ['n <> 1', [2]],
  ['NOT (n = 1)', [2]],
  ['n IS NULL', [3]],
  ['n IS NOT NULL', [1, 2]],
  ['EXISTS(n) AND n > 1', [2]],
  ["colour IN ('red', 'green')", [1, 3]],
  ["colour LIKE 'b%'", [2]],
  ["sys.Label = 's2' OR sys.MessageId = 'm3'", [2, 3]],
  ['n + 1 = 3', [2]],
  ["[colour] = 'red' AND n >= 1", [1]],
];

export const topicCases: readonly Case[] = [
  {
    name: 'gives a message to every subscription that selects it',
    source: FILTERS,
    run: async (context) => {
      await context.send('events', { body: 1, subject: 'urgent', applicationProperties: { colour: 'red' } });
      for (const name of ['all', 'red', 'urgent']) {
        expect(bodies(await context.some(subscription(context, name), 2))).toEqual([1]);
      }
      expect(await context.some(subscription(context, 'large'), 1)).toEqual([]);
    },
  },
  {
    name: 'selects by a property of the same value only',
    source: FILTERS,
    run: async (context) => {
      const coloured = (colour: string) => ({ body: colour, applicationProperties: { colour } });
      await context.send('events', coloured('red'), coloured('blue'), { body: 'none' });
      expect(bodies(await context.some(subscription(context, 'red'), 3))).toEqual(['red']);
    },
  },
  {
    name: 'changes properties by the action of a rule, in its own copy only',
    source: FILTERS,
    run: async (context) => {
      await context.send('events', { body: 1, applicationProperties: { amount: 11, colour: 'red' } });
      const changed = await context.one(subscription(context, 'large'));
      expect(changed.applicationProperties).toMatchObject({ amount: 11, size: 'large' });
      expect(changed.applicationProperties).not.toHaveProperty('colour');
      const plain = await context.one(subscription(context, 'red'));
      expect(plain.applicationProperties).toEqual({ amount: 11, colour: 'red' });
    },
  },
  {
    name: 'settles in one subscription without touching the other',
    source: FILTERS,
    run: async (context) => {
      await context.send('events', { body: 1, applicationProperties: { colour: 'red' } });
      const receiver = subscription(context, 'red');
      await receiver.completeMessage(await context.one(receiver));
      expect(bodies(await context.some(subscription(context, 'all'), 1))).toEqual([1]);
    },
  },
  {
    name: 'dead-letters in the subscription',
    source: 'docs: dead-letter-queues',
    run: async (context) => {
      await context.send('events', { body: 1 });
      const receiver = subscription(context, 'all');
      await receiver.deadLetterMessage(await context.one(receiver));
      const deadLetters = context.client.createReceiver('events', 'all', { subQueueType: 'deadLetter' });
      await deadLetters.completeMessage(await context.one(deadLetters));
    },
  },
  {
    name: 'lists the rules of a subscription',
    source: 'docs: amqp-request-response',
    run: async (context) => {
      const rules = [];
      for await (const rule of context.client.createRuleManager('events', 'large').listRules()) rules.push(rule);
      expect(rules).toMatchObject([
        {
          name: 'large',
          filter: { sqlExpression: expect.stringContaining('amount > 10') },
          action: { sqlExpression: expect.stringContaining('SET size') },
        },
      ]);
    },
  },
  {
    name: 'refuses a rule whose name is taken',
    source: 'docs: amqp-request-response',
    run: async (context) => {
      const manager = context.client.createRuleManager('events', 'red');
      const work = manager.createRule('red', { sqlExpression: '1=1' });
      expect(await context.codeOf(work)).toBe('MessagingEntityAlreadyExists');
    },
  },
  {
    name: 'says that a rule is not there to remove',
    source: 'docs: amqp-request-response',
    run: async (context) => {
      const manager = context.client.createRuleManager('events', 'red');
      expect(await context.codeOf(manager.deleteRule('nowhere'))).toBe('MessagingEntityNotFound');
    },
  },
  {
    name: 'says that a subscription is not there',
    source: 'docs: exceptions',
    run: async (context) => {
      expect(await context.codeOf(subscription(context, 'nowhere').receiveMessages(1))).toBe('MessagingEntityNotFound');
    },
  },
  {
    name: 'forwards from a queue to another',
    source: FORWARDING,
    run: async (context) => {
      await context.send('forwarding', { body: 1, messageId: 'm', applicationProperties: { n: 1 } });
      const fields = { body: 1, messageId: 'm', applicationProperties: { n: 1 } };
      expect(await context.one(context.receiver('other'))).toMatchObject(fields);
    },
  },
  {
    name: 'forwards from a subscription to a queue',
    source: FORWARDING,
    run: async (context) => {
      await context.send('events', { body: 'forwarded' });
      expect(bodies(await context.some(context.receiver('other'), 2))).toEqual(['forwarded']);
    },
  },
  {
    name: 'forwards a scheduled message when it is due',
    source: FORWARDING,
    run: async (context) => {
      await context.send('forwarding', { body: 1, scheduledEnqueueTimeUtc: new Date(Date.now() + 3000) });
      expect(await context.some(context.receiver('other'), 1)).toEqual([]);
      await context.run.elapse(4000);
      expect((await context.one(context.receiver('other'))).body).toBe(1);
    },
  },
  {
    name: 'forwards dead letters with their reason and where they come from',
    source: FORWARDING,
    run: async (context) => {
      await context.send('burying', { body: 1 });
      const receiver = context.receiver('burying');
      const options = { deadLetterReason: 'R', deadLetterErrorDescription: 'D' };
      await receiver.deadLetterMessage(await context.one(receiver), options);
      const buried = await context.one(context.receiver('other'));
      expect(buried).toMatchObject({ body: 1, deadLetterReason: 'R', deadLetterSource: 'burying' });
    },
  },
  {
    name: 'puts what cannot be forwarded into the transfer dead-letter queue',
    source: FORWARDING,
    run: async (context) => {
      await context.send('unfit', { body: 1 });
      const transfer = context.receiver('unfit', { subQueueType: 'transferDeadLetter' });
      const message = await context.one(transfer);
      expect(message.deadLetterReason).toEqual(expect.stringMatching(/.+/));
      await transfer.completeMessage(message);
    },
  },
  ...expressions.map(
    ([expression, expected]): Case => ({
      name: `selects by ${expression}`,
      source: SQL,
      run: async (context) => {
        expect(await selectedBy(context, expression, numbered)).toEqual(expected);
      },
    }),
  ),
];
