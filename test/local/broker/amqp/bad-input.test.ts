import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { ServiceBusClient } from '@azure/service-bus';
import rhea from 'rhea';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startServer } from '../../../../bench/server-process.ts';
import { AmqpServer } from '../../../../local/broker/amqp/amqp-server.ts';
import { Dispatchers } from '../../../../local/broker/amqp/dispatchers.ts';
import { Faults } from '../../../../local/broker/faults/faults.ts';
import { Namespace } from '../../../../local/broker/model/namespace.ts';
import { aBroker, codeOf, QUEUE } from '../a-broker.ts';
import { aRawClient } from './raw-client.ts';

const AMQP_HEADER = Buffer.from('AMQP\u0000\u0001\u0000\u0000', 'latin1');
const SASL_HEADER = Buffer.from('AMQP\u0003\u0001\u0000\u0000', 'latin1');

function aSocket(port: number): Socket {
  const socket = createConnection(port, '127.0.0.1').on('error', () => {});
  onTestFinished(() => {
    socket.destroy();
  });
  return socket.resume();
}

test.each([
  ['something that is not AMQP', Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')],
  ['random bytes', Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 7919) % 251))],
  ['zeros after the header', Buffer.concat([AMQP_HEADER, Buffer.alloc(64)])],
  ['a frame that announces a gigabyte', Buffer.concat([AMQP_HEADER, Buffer.from('40000000020000000053', 'hex')])],
  ['a frame with a wrong data offset', Buffer.concat([AMQP_HEADER, Buffer.from('0000000c0100000000531045', 'hex')])],
  [
    'a transfer on a session that was never begun',
    Buffer.concat([AMQP_HEADER, Buffer.from('0000000d02000005005314c00100', 'hex')]),
  ],
  [
    'a SASL mechanism list that it should not send',
    Buffer.concat([SASL_HEADER, Buffer.from('0000000d020100000053ffc00100', 'hex')]),
  ],
])('cuts off a client that sends %s, and nobody else', async (_name, bytes) => {
  const { broker, client } = await aBroker();
  const sender = client.createSender(QUEUE);
  await sender.sendMessages({ body: 1 });
  const socket = aSocket(broker.port);
  socket.write(bytes);
  await once(socket, 'close');
  expect(await codeOf(sender.sendMessages({ body: 2 }))).toBe('no error');
  expect(broker.namespace.queue(QUEUE).counts().active).toBe(2);
});

test.each([
  ['says nothing', Buffer.alloc(0)],
  ['stops in the middle of the header', AMQP_HEADER.subarray(0, 5)],
  ['stops after the SASL header', SASL_HEADER],
])('cuts off a client that %s', async (_name, bytes) => {
  const namespace = new Namespace({ clock: Date, queues: new Map() });
  const server = new AmqpServer(
    { namespace, dispatchers: new Dispatchers(), faults: new Faults(), newMessageId: () => 'id' },
    50,
  );
  const port = await server.listen(0, '127.0.0.1');
  onTestFinished(() => server.close());
  const socket = aSocket(port);
  socket.write(bytes);
  await once(socket, 'close');
});

/** Opens connections that send a large message, and ends each when most of it is on its way. */
async function cutInTransfer(port: number, count: number, queue = QUEUE): Promise<void> {
  const container = rhea.create_container();
  container.on('error', () => {});
  container.on('disconnected', () => {});
  const bytes = rhea.message.encode({ message_id: 'm', body: Buffer.alloc(200_000) });
  const cut = Array.from({ length: count }, async () => {
    const connection = container.connect({ port, host: '127.0.0.1', reconnect: false, max_frame_size: 1024 });
    const sender = connection.open_sender(queue);
    await once(sender as never, 'sendable');
    const socket = connection['socket'] as Socket;
    endAfter(socket, 150_000);
    sender.send(bytes, undefined, 0);
    await once(socket, 'close');
  });
  await Promise.all(cut);
}

function endAfter(socket: Socket, most: number): void {
  const write = socket.write.bind(socket);
  let written = 0;
  socket.write = (bytes: Uint8Array | string) => {
    written += bytes.length;
    if (written < most) return write(bytes);
    socket.destroySoon();
    return true;
  };
}

test('survives 200 connections that end in the middle of a transfer', async () => {
  const { broker, client } = await aBroker();
  await client.createSender(QUEUE).sendMessages({ body: 'before' });
  await cutInTransfer(broker.port, 200);
  expect(await codeOf(client.createSender(QUEUE).sendMessages({ body: 'after' }))).toBe('no error');
  expect(broker.namespace.queue(QUEUE).counts().active).toBe(2);
});

test('has its memory back when such connections are gone', async () => {
  const server = await startServer('broker-server.ts');
  onTestFinished(() => server.stop());
  await cutInTransfer(server.port, 200, 'bench');
  const before = await server.usage();
  await cutInTransfer(server.port, 200, 'bench');
  // What began to arrive is 30 MB.
  await vi.waitFor(
    async () => expect((await server.usage()).memoryInBytes).toBeLessThan(before.memoryInBytes + 5_000_000),
    { timeout: 10_000, interval: 100 },
  );
});

test('serves others while a client never settles, and gives its messages on when their locks end', async () => {
  const { broker, client, pass } = await aBroker({ lockDurationInMs: 30_000, maxDeliveryCount: 10 });
  await client.createSender(QUEUE).sendMessages(Array.from({ length: 2000 }, (_, body) => ({ body })));
  const hoarder = new ServiceBusClient(broker.connectionString);
  onTestFinished(() => hoarder.close());
  const held = await hoarder.createReceiver(QUEUE, { maxAutoLockRenewalDurationInMs: 0 }).receiveMessages(2000);
  expect(held).toHaveLength(2000);
  pass(30_000);
  const receiver = client.createReceiver(QUEUE, { receiveMode: 'receiveAndDelete' });
  const taken: unknown[] = [];
  while (taken.length < 2000)
    taken.push(...(await receiver.receiveMessages(2000 - taken.length)).map(({ body }) => body));
  expect(taken).toEqual(Array.from({ length: 2000 }, (_, index) => index));
});

test('answers a settlement of deliveries that never were with nothing, whatever the range', async () => {
  const { broker, client } = await aBroker();
  const raw = await aRawClient(broker.port);
  await client.createSender(QUEUE).sendMessages({ body: 1 });
  await raw.receiveBytes(QUEUE);
  const receiver = raw.connection.find_receiver(() => true) as unknown as {
    session: { output(frame: object): void };
  };
  const { disposition } = (await import('rhea/lib/frames.js' as string)).default;
  receiver.session.output(disposition({ role: true, first: 1, last: 4_294_967_295, settled: true }));
  expect(await codeOf(client.createSender(QUEUE).sendMessages({ body: 2 }))).toBe('no error');
});

test('says by name that an operation is not supported', async () => {
  const { broker } = await aBroker();
  const raw = await aRawClient(broker.port);
  const reply = await raw.request(`${QUEUE}/$management`, 'com.microsoft:unheard-of', {});
  expect(reply).toMatchObject({
    statusCode: 501,
    statusDescription: "The operation 'com.microsoft:unheard-of' is not supported here.",
    errorCondition: 'amqp:not-implemented',
  });
});

test.each([
  [
    'com.microsoft:peek-message',
    { 'from-sequence-number': 'one', 'message-count': 1 },
    /'from-sequence-number' .* must be an integer/,
  ],
  ['com.microsoft:renew-lock', { 'lock-tokens': ['x'] }, /'lock-tokens' .* must be a list of uuids/],
  ['com.microsoft:update-disposition', { 'lock-tokens': [], 'disposition-status': 'kept' }, /'kept' is not known/],
  ['com.microsoft:schedule-message', { messages: [{ message: Buffer.from('ff', 'hex') }] }, /Expected a section/],
  ['com.microsoft:schedule-message', { messages: [{}] }, /must hold a binary 'message'/],
])('refuses a %s request with %j', async (operation, body, expected) => {
  const { broker } = await aBroker();
  const raw = await aRawClient(broker.port);
  const reply = await raw.request(`${QUEUE}/$management`, operation, body);
  expect(reply).toMatchObject({ statusCode: 400, statusDescription: expect.stringMatching(expected) });
});

test('lets go of what a connection held when it ends', async () => {
  const { broker } = await aBroker();
  const raw = await aRawClient(broker.port);
  raw.connection.open_receiver(QUEUE);
  await raw.request(`${QUEUE}/$management`, 'com.microsoft:peek-message', {
    'from-sequence-number': 0,
    'message-count': 1,
  });
  raw.connection.close();
  const queue = broker.namespace.queue(QUEUE);
  const watch = vi.spyOn(queue, 'receive');
  await vi.waitFor(() => {
    watch.mockClear();
    queue.send({
      bytes: Buffer.alloc(0),
      messageId: 'm',
      sessionId: undefined,
      timeToLiveInMs: undefined,
      fields: { applicationProperties: new Map() },
    });
    expect(watch).not.toHaveBeenCalled();
  });
});
