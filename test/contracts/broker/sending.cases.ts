import { expect } from 'vitest';
import { bodies, type Case } from './case.ts';

const text = (length: number) => 'x'.repeat(length);
const SOURCE = 'docs: messages-payloads';

const fields: readonly (readonly [string, object])[] = [
  ['messageId', { messageId: 'id-1' }],
  ['contentType', { contentType: 'application/json; charset=utf-8' }],
  ['correlationId', { correlationId: 'c-1' }],
  ['subject', { subject: 'order.created' }],
  ['to', { to: 'somewhere' }],
  ['replyTo', { replyTo: 'answers' }],
  ['replyToSessionId', { replyToSessionId: 's-9' }],
  ['partitionKey', { partitionKey: 'p-1' }],
  ['a numeric messageId', { messageId: 42 }],
  ['a Unicode messageId', { messageId: 'größer-✓' }],
];

const values: readonly (readonly [string, unknown, unknown?])[] = [
  ['an integer', 7],
  ['a negative integer', -7],
  ['a large integer', 4_294_967_296],
  ['a fraction', 0.1],
  ['a boolean', true],
  ['an empty string', ''],
  ['a string of 30,000 characters', text(30_000)],
  ['a date', new Date(1_700_000_000_123), 1_700_000_000_123],
];

const bodyKinds: readonly (readonly [string, unknown])[] = [
  ['an object', { a: [1, { b: null }] }],
  ['a string', 'plain text'],
  ['a number', 12.5],
  ['an array', [1, 'two', false]],
  ['bytes', Buffer.from([0, 255, 128, 1])],
  ['a text with a byte order mark', '\uFEFF{"a":1}'],
];

const scenarios: Case[] = [
  {
    name: 'gives an id to a message that has none',
    source: SOURCE,
    run: async (context) => {
      await context.send('plain', { body: 1 });
      expect((await context.one(context.receiver('plain'))).messageId).toEqual(expect.stringMatching(/.+/));
    },
  },
  {
    name: 'keeps apart property names that differ in case only',
    source: 'field: issue threads',
    needs: ['propertyCase'],
    run: async (context) => {
      await context.send('plain', { body: 1, applicationProperties: { key: 1, Key: 2 } });
      expect((await context.one(context.receiver('plain'))).applicationProperties).toEqual({ key: 1, Key: 2 });
    },
  },
  {
    name: 'hands messages over in the order in which they were sent',
    source: 'docs: message-sequencing',
    run: async (context) => {
      await context.send('plain', { body: 1 }, { body: 2 }, { body: 3 });
      const messages = await context.some(context.receiver('plain'), 3);
      expect(bodies(messages)).toEqual([1, 2, 3]);
      const numbers = messages.map(({ sequenceNumber }) => Number(sequenceNumber));
      expect([...numbers].sort((a, b) => a - b)).toEqual(numbers);
      expect(new Set(numbers).size).toBe(3);
    },
  },
  {
    name: 'takes an array of messages and hands them over one by one',
    source: 'SDK: README',
    run: async (context) => {
      await context.client.createSender('plain').sendMessages([{ body: 'a' }, { body: 'b' }]);
      expect(bodies(await context.some(context.receiver('plain'), 2))).toEqual(['a', 'b']);
    },
  },
  {
    name: 'takes a batch and keeps the properties of each message in it',
    source: 'SDK: README',
    run: async (context) => {
      const sender = context.client.createSender('plain');
      const batch = await sender.createMessageBatch();
      batch.tryAddMessage({ body: 'a', applicationProperties: { n: 1 } });
      batch.tryAddMessage({ body: 'b', subject: 'second' });
      await sender.sendMessages(batch);
      const [a, b] = await context.some(context.receiver('plain'), 2);
      expect([a?.applicationProperties, b?.subject]).toEqual([{ n: 1 }, 'second']);
    },
  },
  {
    name: 'says how large a message may be',
    source: 'docs: quotas',
    run: async (context) => {
      const batch = await context.client.createSender('plain').createMessageBatch();
      expect(batch.maxSizeInBytes).toBeGreaterThanOrEqual(262_144);
    },
  },
  {
    name: 'carries a body of 200,000 bytes',
    source: 'docs: quotas',
    run: async (context) => {
      const body = Buffer.alloc(200_000, 7);
      await context.send('plain', { body });
      expect(body.equals((await context.one(context.receiver('plain'))).body)).toBe(true);
    },
  },
  {
    name: 'refuses a message that is too large and goes on',
    source: 'docs: exceptions',
    needs: ['brokenSizes'],
    run: async (context) => {
      const sender = context.client.createSender('plain');
      const { maxSizeInBytes } = await sender.createMessageBatch();
      expect(await context.codeOf(sender.sendMessages({ body: Buffer.alloc(maxSizeInBytes + 1) }))).toBe(
        'MessageSizeExceeded',
      );
      await sender.sendMessages({ body: 'fits' });
      expect(bodies(await context.some(context.receiver('plain'), 2))).toEqual(['fits']);
    },
  },
  {
    name: 'refuses an application property of more than 32 KB',
    source: 'docs: quotas',
    needs: ['brokenSizes'],
    run: async (context) => {
      const work = context.send('plain', { body: 1, applicationProperties: { big: text(33_000) } });
      expect(await context.codeOf(work)).not.toBe('no error');
    },
  },
  {
    name: 'says that a queue is not there to send to',
    source: 'docs: exceptions',
    run: async (context) => {
      expect(await context.codeOf(context.send('nowhere', { body: 1 }))).toBe('MessagingEntityNotFound');
    },
  },
  {
    name: 'finds a queue whatever the case of its name',
    source: 'docs: amqp-request-response',
    run: async (context) => {
      await context.send('PLAIN', { body: 1 });
      expect((await context.one(context.receiver('plain'))).body).toBe(1);
    },
  },
  {
    name: 'shows when a message was enqueued',
    source: SOURCE,
    run: async (context) => {
      const beforeUtc = Date.now();
      await context.send('plain', { body: 1 });
      const { enqueuedTimeUtc } = await context.one(context.receiver('plain'));
      expect(Math.abs(Number(enqueuedTimeUtc) - beforeUtc)).toBeLessThan(60_000);
    },
  },
];

export const sendingCases: readonly Case[] = [
  ...fields.map(
    ([name, field]): Case => ({
      name: `keeps ${name}`,
      source: SOURCE,
      run: async (context) => {
        await context.send('plain', { body: 1, ...field });
        expect(await context.one(context.receiver('plain'))).toMatchObject(field);
      },
    }),
  ),
  ...values.map(
    ([name, sent, received = sent]): Case => ({
      name: `keeps ${name} in an application property`,
      source: SOURCE,
      run: async (context) => {
        await context.send('plain', { body: 1, applicationProperties: { value: sent as string } });
        expect((await context.one(context.receiver('plain'))).applicationProperties).toEqual({ value: received });
      },
    }),
  ),
  ...bodyKinds.map(
    ([name, body]): Case => ({
      name: `keeps ${name} as body`,
      source: SOURCE,
      run: async (context) => {
        await context.send('plain', { body });
        expect((await context.one(context.receiver('plain'))).body).toEqual(body);
      },
    }),
  ),
  ...(['value', 'sequence'] as const).map(
    (bodyType): Case => ({
      name: `keeps an AMQP ${bodyType} body as such`,
      source: 'AMQP 1.0',
      run: async (context) => {
        await context.client.createSender('plain').sendMessages({ bodyType, body: [1, 'two'] });
        const { body, _rawAmqpMessage: raw } = await context.one(context.receiver('plain'));
        expect({ body, bodyType: raw.bodyType }).toEqual({ body: [1, 'two'], bodyType });
      },
    }),
  ),
  ...scenarios,
];
